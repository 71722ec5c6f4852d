import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '#sandbox/data-folder.ts';
import type { Demo, DemoMode } from '#sandbox/demo-account.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** One mode, described for sandbox.json. */
export interface SandboxMode extends DemoMode {
  readonly chain_id: number;
  readonly rpc_url: string;
  readonly usdc: string;
  readonly settlement: string;
}

/** sandbox.json (behavior.md 20.3): everything that a script needs to use the sandbox. */
export interface SandboxFile {
  readonly base_url: string;
  readonly web_url: string;
  readonly account: string;
  readonly dashboard: Demo['dashboard'];
  readonly operator: Demo['operator'];
  readonly operator_2: Demo['operator_2'];
  readonly test: SandboxMode;
  readonly live: SandboxMode;
}

const SANDBOX_FILE = 'sandbox.json';

function modeOf(demo: DemoMode, network: NetworkConfig | undefined): SandboxMode {
  return {
    secret_key: demo.secret_key,
    terminal: demo.terminal,
    device_key: demo.device_key,
    agent_terminal: demo.agent_terminal,
    chain_id: network?.chainId ?? 0,
    rpc_url: network?.rpcUrls[0] ?? '',
    usdc: network?.usdc ?? '',
    settlement: network?.settlement ?? '',
    passes: demo.passes,
  };
}

/** Writes the file last and by rename, so that a program that sees the file can send requests. */
export async function writeSandboxFile(
  folder: DataFolder,
  ground: {
    readonly demo: Demo;
    readonly webUrl: string;
    readonly networks: readonly NetworkConfig[];
  },
): Promise<SandboxFile> {
  const { demo, webUrl, networks } = ground;
  const file: SandboxFile = {
    base_url: `${webUrl}/api`,
    web_url: webUrl,
    account: demo.account,
    dashboard: demo.dashboard,
    operator: demo.operator,
    operator_2: demo.operator_2,
    test: modeOf(
      demo.test,
      networks.find((network) => !network.livemode),
    ),
    live: modeOf(
      demo.live,
      networks.find((network) => network.livemode),
    ),
  };
  await folder.writeJson(SANDBOX_FILE, file);
  return file;
}

/** Deletes the file, so that a stopped sandbox does not look running. */
export async function removeSandboxFile(folder: DataFolder): Promise<void> {
  await rm(join(folder.path, SANDBOX_FILE), { force: true });
}
