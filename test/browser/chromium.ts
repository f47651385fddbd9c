import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser of this machine; undefined where there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM ?? "", ...PATHS].find((path) => path !== "" && existsSync(path));
}

/** Starts it with a profile of its own, which goes when the context is closed by `close`. */
export async function openBrowser(
  executablePath: string,
): Promise<{ context: BrowserContext; close: () => Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), "spotter-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    viewport: { width: 1280, height: 900 },
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
    ],
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
