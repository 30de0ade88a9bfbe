/** Ways to build the protocol wrongly. */
export const WRONG_VARIANTS = [
  "a DELETE is answered before the holders have confirmed",
  "a node confirms before it keeps the schema durably",
  "a node confirms before its writes in flight have ended",
  "a node confirms once, and not again after a restart",
  "a node accepts incarnations that it does not know",
  "a DELETE does not name its incarnation",
  "a POST does not name what it follows",
  "a call that is repeated is planned anew",
  "a change is made although its time is over",
  "a class is made anew while the drop is pending",
  "unsettled changes are not looked at",
  "the store of another cluster is accepted",
  "a node that was removed comes back with the schema that it kept",
] as const;
export type WrongVariant = (typeof WRONG_VARIANTS)[number];
