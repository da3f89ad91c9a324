# Builds Parley and keeps what it needs to run. The settings file is mounted at /app/parley.yaml, data at /app/data.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

# Deleting devDependencies before installing drops what is only an optional peer (Prisma's command line): half the size.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm pkg delete devDependencies scripts.pretest \
 && npm install --omit=dev --omit=peer --no-audit --no-fund --ignore-scripts \
 && find node_modules/@prisma/client/runtime -name 'query_compiler*' ! -name '*postgresql*' -delete \
 && npm cache clean --force

FROM node:24-bookworm-slim
# git and ssh fetch plugins.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git openssh-client ca-certificates \
 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production PARLEY_HOST=0.0.0.0
WORKDIR /app
COPY --from=packages /app/package.json ./package.json
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/scripts/*.mjs ./scripts/
RUN mkdir data && chown node:node data && ln -s /app/dist/cli/index.js /usr/local/bin/parley && chmod +x dist/cli/index.js
USER node
VOLUME /app/data
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:3000/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "scripts/start.mjs"]
