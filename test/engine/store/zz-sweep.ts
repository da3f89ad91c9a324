import { newPlace } from "./store-place.ts";
import { openOnEmbedded, openOnServer } from "./store-world.ts";

const world = await (process.argv[2] === "embedded" ? openOnEmbedded() : openOnServer());
const place = await newPlace(world.store);
await place.reply();
const s = world.store;
const jobs = {
  dueSessions: () => s.dueSessions(50),
  dueChannels: () => s.dueChannels(50),
  owedSettles: () => s.owedSettles(20),
  dueFiles: () => s.dueFiles(20),
  expireCards: () => s.expireCards(),
  ping: () => s.ping(),
  readBot: () => s.readBot(place.bot.id),
  fileStates: () => s.fileStates(["x"]),
} as const;
for (const [name, job] of Object.entries(jobs)) {
  const list: number[] = [];
  for (let i = 0; i < 200; i++) {
    const t = performance.now();
    await job();
    list.push(performance.now() - t);
  }
  list.sort((a, b) => a - b);
  console.log(name.padEnd(14), list[100]!.toFixed(2), list[190]!.toFixed(2));
}
await world.close();
