import { homeView } from "../views/home-view.ts";
import type { OverviewNews } from "../views/news.ts";
import { follow } from "./live.ts";
import { mount } from "./mount.ts";

const AGES_MS = 10_000;

export function startHome(root: HTMLElement): void {
  let overview: OverviewNews = { runs: [], endpoints: [] };
  const changed = mount(root, () => homeView(overview, Date.now()));
  let hasNews = false;
  follow<OverviewNews>(
    () => "/ui/api/overview",
    (news) => {
      overview = news;
      hasNews = true;
      changed();
    },
  );
  setInterval(() => hasNews && changed(), AGES_MS);
}
