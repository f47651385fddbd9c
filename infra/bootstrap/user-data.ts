import { readFileSync } from "node:fs";
import { CONTAINER_GID, CONTAINER_UID } from "./container-program.ts";

export interface HostParams {
  region: string;
  /** The host joins it; null: Batch sees to that, and to hosts without work. */
  cluster: string | null;
  idleMinutes: number;
  maxHours: number;
}

/** Longer than a network of AWS has ever been away, shorter than anybody wants to pay for. */
const UNREACHABLE_MINUTES = 30;
/**
 * A container in the host's own network asks for the host's role as the host does. Its user tells them apart, and where
 * that is root its group, which it cannot leave (container-program.ts).
 */
const WITHOUT_ROLE = [`--uid-owner ${CONTAINER_UID}`, `--gid-owner ${CONTAINER_GID}`].map(
  (owner) => `iptables --insert OUTPUT --destination 169.254.169.254 --match owner ${owner} --jump REJECT`,
);
/** Added to what the image, and Batch, have to say to the agent of ECS. */
const EVERY_AGENT = file(">/etc/ecs/ecs.config", [
  // A container in a network of its own, as nodes of a training have, does not go by the host's rules.
  "ECS_AWSVPC_BLOCK_IMDS=true",
  // Half a minute would be too short to save in. ECS takes the time of a task's definition, Batch has no other.
  "ECS_CONTAINER_STOP_TIMEOUT=120s",
]);
const BOUNDARY = "==spotter==";

/**
 * What a GPU host does when it starts, as EC2 takes it: base64 of a MIME message, the one form that Batch can add its
 * own part to.
 */
export function userData(params: HostParams): string {
  const script = [
    ...(params.cluster === null ? [] : [agent(params.cluster)]),
    EVERY_AGENT,
    ...WITHOUT_ROLE,
    guard(params),
  ].join("\n");
  const message = [
    "MIME-Version: 1.0",
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    "",
    `--${BOUNDARY}`,
    'Content-Type: text/x-shellscript; charset="us-ascii"',
    "",
    `#!/bin/bash\n${script}`,
    `--${BOUNDARY}--`,
    "",
  ];
  return Buffer.from(message.join("\n")).toString("base64");
}

function agent(cluster: string): string {
  return file(">/etc/ecs/ecs.config", [
    `ECS_CLUSTER=${cluster}`,
    "ECS_ENABLE_GPU_SUPPORT=true",
    // Two minutes before spot takes it back, nothing new is placed here.
    "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true",
    "ECS_IMAGE_PULL_BEHAVIOR=prefer-cached",
  ]);
}

function guard({ region, cluster, idleMinutes, maxHours }: HostParams): string {
  const environment = [
    `REGION=${region}`,
    `CLUSTER=${cluster ?? ""}`,
    `IDLE_MINUTES=${cluster === null ? 0 : idleMinutes}`,
    `MAX_HOURS=${maxHours}`,
    `UNREACHABLE_MINUTES=${UNREACHABLE_MINUTES}`,
    "STATE=/run/spotter-guard",
    "UPTIME=/proc/uptime",
  ];
  const service = [
    "[Service]",
    "Type=oneshot",
    "EnvironmentFile=/etc/spotter-guard.env",
    "ExecStart=/bin/bash /usr/local/bin/spotter-guard",
  ];
  return [
    file("/etc/spotter-guard.env", environment),
    file("/usr/local/bin/spotter-guard", [
      readFileSync(new URL("host-guard.sh", import.meta.url), "utf8").trimEnd(),
    ]),
    file("/etc/systemd/system/spotter-guard.service", service),
    file("/etc/systemd/system/spotter-guard.timer", [
      "[Timer]",
      "OnBootSec=60",
      "OnUnitActiveSec=60",
      "AccuracySec=5",
      "[Install]",
      "WantedBy=timers.target",
    ]),
    "systemctl daemon-reload",
    "systemctl enable --now spotter-guard.timer",
    // By it the group learns that nothing comes in this host's place. Without it the host ends all the same.
    "command -v aws >/dev/null || dnf install --assumeyes awscli-2 || true",
  ].join("\n");
}

function file(path: string, lines: string[]): string {
  return [`cat >${path} <<'SPOTTER_FILE'`, ...lines, "SPOTTER_FILE"].join("\n");
}
