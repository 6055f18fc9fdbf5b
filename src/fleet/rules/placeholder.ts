// Stands in a prompt for the path of the workspace, which a worker alone knows.

export const WORKSPACE_PLACEHOLDER = '/toolcrew-workspace-of-this-attempt';
