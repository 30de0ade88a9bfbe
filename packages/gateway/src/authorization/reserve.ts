/** Part of what all managers share, roles and users for instance, that is not for one who manages some of them only. */
const RESERVE = 1 / 10;

/** How much of `max` there may be after a manager has added to it: one with few rights must not be able to keep all others from it. */
export function mostFor(max: number, managesAll: boolean): number {
  return managesAll ? max : max * (1 - RESERVE);
}
