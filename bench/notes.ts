// Notes on the rows of a fleet, for those who read the results.

export const FLEET_NOTES = `## How the rows of a fleet are made

Coordinator, workers, store and the played hosting service are processes of this one machine. They share its cores, and talk over loopback.

| rows | how |
| --- | --- |
| label → agent started | Polls are hours apart. One after the other, issues get the label. The service sends a webhook. The agent leaves a file when it starts, on the worker: its time counts. |
| attempts of agents that only commit | From the start of the first agent to the last label. The floor is the same without a queue. |
| load of the store | Redis counts commands and bytes itself. To PostgreSQL all clients go through a proxy, which counts simple queries, executions and bytes of both directions. Looks of idle slots are among them. |
| memory for each attempt in flight | Resident memory of a process, with 100 and with 980 agents that wait. The difference is divided by the number of further agents. Agents are not part of it. |
| SIGKILL of a worker | From the signal until the last of its agents has started on another worker. Each issue has one pull request at the end. |
| fleet of 20 workers | Agents are shells in namespaces of their own that wait at a pipe, and commit when it opens. With the last step and the issues of the latency, 1,000 are in flight. |
`;
