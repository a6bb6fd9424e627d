/** Words that read as translated in texts for users and in test names, and what to write instead (CONTRIBUTING, "Language"). */
export const WORDING = new Map([
  ["cannot be told", "is unknown, cannot be determined"],
  ["told", "reported, shown, logged"],
  ["anew", "again, from scratch"],
  ["goes on", "continues, keeps running"],
  ["can be had", "is available"],
  ["taken back", "rolled back, reverted"],
  ["looked at again", "checked again"],
  ["held against", "compared with, checked against"],
  ["nobody", "no other client, no controller; or who does it"],
  ["beside", "next to, in addition to"],
  ["asked for", "requested"],
]);
