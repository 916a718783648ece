/** What both pages look like: their colours by the scheme of the reader, their letters, and the bar on top. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --surface: #fff;
  --raised: #f5f7fa;
  --line: #dfe4ea;
  --text: #232b38;
  --muted: #5a6577;
  --link: #1c5dcc;
  --code: #1d2530;
  --code-text: #e7ecf3;
  --mark: #eaf1fd;
  --committed: #18743f;
  --live: #8a5a00;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  --width: 1180px;
  --gap: 24px;
}
@media (prefers-color-scheme: dark) {
  :root {
    --surface: #1c2022;
    --raised: #25292c;
    --line: #3b4246;
    --text: #e4e6e6;
    --muted: #a9b1b6;
    --link: #6cb2ff;
    --code: #101314;
    --mark: #22344d;
    --committed: #5fd08f;
    --live: #e5b455;
  }
}
@media (max-width: 600px) { :root { --gap: 16px; } }
* { box-sizing: border-box; }
html { background: var(--surface); -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--surface); color: var(--text); font: 15px/1.55 var(--sans); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.bar { border-bottom: 1px solid var(--line); }
.bar nav { display: flex; align-items: center; gap: 4px; max-width: var(--width); height: 48px; margin: 0 auto; padding: 0 var(--gap); }
.bar img { display: block; margin-right: 8px; }
.bar a { padding: 6px 10px; border-radius: 6px; color: var(--muted); font-size: 14px; font-weight: 600; text-decoration: none; }
.bar a:hover { background: var(--raised); color: var(--text); }
.bar a[aria-current] { background: var(--mark); color: var(--text); }
.bar .document { margin: 0 -10px 0 auto; font: 13px var(--mono); }
`;
