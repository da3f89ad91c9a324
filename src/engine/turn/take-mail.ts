/**
 * Which mail a turn takes (SPEC T5, T7): the first piece, and what the same person sent on the same route. Everybody else's waits as its own turn.
 */

import type { DiscussionPerson } from "../discussion.ts";
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
  return due.filter((mail) => taken.some((own) => belongTogether(own, mail)));
}

/**
 * A person's further message in a Group joins its discussion, whoever wrote it (SPEC G7), and nothing else. What a person answered there to a card is told
 * in a turn of its own, which counts by itself (SPEC G8).
 */
function belongTogether(own: Mail, mail: Mail): boolean {
  if (isCounted(own) || isCounted(mail)) return false;
  if (mail.body.type === "discussion")
    return own.body.type === "discussion" && own.body.discussionId === mail.body.discussionId;
  return own.kind === "person" && mail.kind === "person" && own.authorId === mail.authorId && own.route === mail.route;
}

function isCounted({ kind, body }: Mail): boolean {
  return kind === "person" && "ask" in body && body.ask !== undefined;
}

/** The lowest role among the people served, and who they are. Mail of nobody acts as a member; a person whose role is not known, as a guest. */
export function authorityOf(mail: readonly Mail[]): Authority {
  const people = mail.flatMap(peopleOf);
  const peers = mail.flatMap(({ body }) => (body.type === "peer" ? [body] : []));
  // A teammate's message acts for the people its chain began with, but never with more than a member's authority.
  const roles = [
    ...people.map((person) => person.role),
    ...peers.map(({ serves }) => lowerRole(serves.role, "member")),
  ];
  const answered = peers.filter(({ direction }) => direction !== "ask").map(({ serves }) => serves);
  const names = Object.fromEntries(people.map((person) => [person.id, person.name]));
  return {
    role: roles.length > 0 ? roles.reduce<Role>((low, next) => lowerRole(low, next), "owner") : "member",
    personIds: [...new Set([...people.map((person) => person.id), ...answered.flatMap((one) => one.personIds)])],
    names: Object.assign({}, ...answered.map((one) => one.names), names),
  };
}

/** Whom a piece of mail serves: its author, or everybody who took part in the discussion. */
function peopleOf({ kind, authorId, authorName, body }: Mail): readonly DiscussionPerson[] {
  if (body.type === "discussion") return body.persons;
  if (kind !== "person" || !authorId) return [];
  return [{ id: authorId, name: authorName ?? "", role: ("role" in body && body.role) || "guest" }];
}

/** Authority after more mail joined. */
export function joinAuthority(left: Authority, right: Authority): Authority {
  return {
    role: isAtLeast(left.role, right.role) ? right.role : left.role,
    personIds: [...new Set([...left.personIds, ...right.personIds])],
    names: { ...left.names, ...right.names },
  };
}
