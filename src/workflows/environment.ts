/** The variable of the environment in which a shell finds an input. */
export function inputVariable(name: string): string {
  return `INPUT_${name.toUpperCase()}`;
}

/** The variable of the environment in which a shell finds a variable of the group. */
export function groupVariable(name: string): string {
  return `GROUP_${name.toUpperCase()}`;
}
