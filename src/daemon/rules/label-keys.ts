// Effect keys of labels. The hosting service compares labels without regard to case.

export function labelAddKey(label: string): string {
  return `label_add:${label.toLowerCase()}`;
}

export function labelRemoveKey(label: string): string {
  return `label_remove:${label.toLowerCase()}`;
}
