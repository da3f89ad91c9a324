/**
 * The built product, run as `npm start` runs it but without the check for outdated files, with the probe inside. Counts every statement sent to
 * the database; reads parley.yaml in the folder it is started in.
 */
import pg from "pg";
import { answerQuestions, reach } from "./probe.mjs";

let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function countedQuery(...parameters) {
  statements += 1;
  return query.apply(this, parameters);
};
answerQuestions(() => ({ statements }));
reach("process");
const { main } = await import("../dist/main.js");
reach("modules");
await main([]);
