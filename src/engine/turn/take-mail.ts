/**
 * Which mail a turn takes (SPEC T5, T7): the first piece, and what the same person sent on the same route. Everybody else's waits as its own turn.
 */

import type { Mail } from "../mail.ts";
import { isAtLeast, lowerRole, type Role } from "../person.ts";
import type { Authority } from "../session.ts";

/** The pieces that begin a turn; empty when nothing is due. */
export function firstBatch(due: readonly Mail[]): readonly Mail[] {
  const [first] = due;
  return first ? [first, ...joinable(due.slice(1), [first])] : [];
}

/** Due mail that belongs to a turn serving `taken`. */
export function joinable(due: readonly Mail[], taken: readonly Mail[]): readonly Mail[] {
  return due.filter((mail) =>
    taken.some(
      (own) =>
        own.kind === "person" && mail.kind === "person" && own.authorId === mail.authorId && own.route === mail.route,
    ),
  );
}

/** The lowest role among the people served, and who they are. Mail of nobody acts as a member; a person whose role is not known, as a guest. */
export function authorityOf(mail: readonly Mail[]): Authority {
  const people = mail.filter((item) => item.kind === "person" && item.authorId);
  const peers = mail.flatMap(({ body }) => (body.type === "peer" ? [body] : []));
  // A teammate's message acts for the people its chain began with, but never with more than a member's authority.
  const roles = [
    ...people.map((item): Role => ("role" in item.body && item.body.role) || "guest"),
    ...peers.map(({ serves }) => lowerRole(serves.role, "member")),
  ];
  const role = roles.reduce<Role>((low, next) => lowerRole(low, next), "owner");
  const answered = peers.filter(({ direction }) => direction !== "ask").map(({ serves }) => serves);
  const names = Object.fromEntries(people.map((item) => [item.authorId ?? "", item.authorName ?? ""]));
  return {
    role: roles.length > 0 ? role : "member",
    personIds: [
      ...new Set([...people.flatMap((item) => item.authorId ?? []), ...answered.flatMap((one) => one.personIds)]),
    ],
    names: Object.assign({}, ...answered.map((one) => one.names), names),
  };
}

/** Authority after more mail joined. */
export function joinAuthority(left: Authority, right: Authority): Authority {
  return {
    role: isAtLeast(left.role, right.role) ? right.role : left.role,
    personIds: [...new Set([...left.personIds, ...right.personIds])],
    names: { ...left.names, ...right.names },
  };
}
