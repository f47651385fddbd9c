/** The whole look: system fonts, light and dark, nothing fetched. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --mute: #888; --accent: #2f6fde; --good: #2a8a4a; --bad: #c23b3b; }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; }
header { padding: .8rem 1.5rem; border-bottom: 1px solid var(--line); font-weight: 600; }
header a { color: inherit; text-decoration: none; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.4rem; margin: .6rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--mute); }
td.number { font-variant-numeric: tabular-nums; }
a { color: var(--accent); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: .7rem; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; }
progress { width: 100%; height: .7rem; accent-color: var(--accent); }
.state { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; background: var(--soft); border: 1px solid var(--line); font-size: .85rem; }
.state.succeeded, .state.ready { color: var(--good); border-color: currentColor; }
.state.failed { color: var(--bad); border-color: currentColor; }
.mute { color: var(--mute); }
`;
