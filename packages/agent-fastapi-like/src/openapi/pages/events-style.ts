/** What the page of the events looks like, beside the style of all pages. */
export const EVENTS_STYLE = `html { scroll-padding-top: 16px; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
.columns { display: grid; grid-template-columns: 168px minmax(0, 1fr); gap: 40px; max-width: var(--width); margin: 0 auto; padding: 0 var(--gap) 64px; }
.contents { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 32px 4px; font-size: 13.5px; line-height: 1.35; }
.contents ul { margin: 0; padding: 0; list-style: none; }
.contents ul ul { margin: 2px 0 10px; padding-left: 10px; border-left: 1px solid var(--line); }
.contents a { display: block; padding: 3px 0; color: var(--muted); text-decoration: none; }
.contents > ul > li > a { color: var(--text); font-weight: 600; }
.contents ul ul a { font: 12px/1.35 var(--mono); }
.contents a:hover { color: var(--link); text-decoration: underline; }
main { padding-top: 24px; }
h1 { margin: 0 0 6px; font-size: 28px; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin: 40px 0 8px; font-size: 20px; line-height: 1.3; }
h3 { margin: 24px 0 8px; font-size: 15px; }
p { max-width: 44rem; margin: 0 0 10px; }
.lead { color: var(--muted); }
code, pre { font-family: var(--mono); font-size: 12.5px; }
p code, dd code, td.when code { padding: 1px 4px; border-radius: 4px; background: var(--raised); }
pre { margin: 8px 0; padding: 10px 12px; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 6px; background: var(--code); color: var(--code-text); line-height: 1.5; }
pre span { display: block; padding-left: calc(var(--depth) + 4ch); text-indent: -4ch; }
pre b { color: #a2d9a0; font-weight: 400; }
pre i { color: #98a5b6; font-style: normal; }
pre a { color: #8ec4ff; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 12px; max-width: 44rem; margin: 0 0 16px; font-size: 14px; }
dd { margin: 0; color: var(--muted); }
.class { display: inline-block; padding: 1px 7px; border: 1px solid currentColor; border-radius: 999px; font: 600 11px/1.5 var(--sans); white-space: nowrap; }
.committed-first { color: var(--committed); }
.live { color: var(--live); }
.mark { color: var(--link); }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th { padding: 6px 16px 6px 0; border-bottom: 1px solid var(--line); color: var(--muted); font-size: 12px; text-align: left; }
td { padding: 10px 16px 10px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.rows { table-layout: fixed; }
.rows .name { width: 172px; }
.rows .when { width: 232px; }
.rows .class { display: block; width: fit-content; margin-top: 4px; }
.rows .name a { color: var(--text); font: 600 13px var(--mono); text-decoration: none; }
.rows .name a:hover { text-decoration: underline; }
.example { display: block; overflow-wrap: anywhere; line-height: 1.5; }
tr:target > td { background: var(--mark); }
tr:target > td:first-child { box-shadow: -8px 0 var(--mark); }
tr:target > td:last-child { box-shadow: 8px 0 var(--mark); }
.closed { width: auto; }
details { margin: 6px 0 0; }
summary { width: fit-content; border-radius: 4px; color: var(--muted); font-size: 12.5px; cursor: pointer; }
summary:hover { color: var(--text); }
.shape { margin: 0; padding: 6px 0; border-bottom: 1px solid var(--line); }
.shape summary { width: auto; padding: 4px 0; color: var(--text); font: 600 13px var(--mono); }
.shape summary span { color: var(--muted); font: 14px var(--sans); }
@media (max-width: 900px) {
  .columns { display: block; }
  .contents { position: static; max-height: none; margin: 0 calc(-1 * var(--gap)); padding: 10px var(--gap); border-bottom: 1px solid var(--line); }
  .contents > ul { display: flex; flex-wrap: wrap; gap: 0 18px; }
  .contents ul ul { display: none; }
  .contents a { padding: 6px 0; }
}
@media (max-width: 600px) {
  .rows, .rows tbody, .rows tr, .rows td { display: block; width: 100% !important; }
  .rows thead { display: none; }
  .rows tr { padding: 12px 0; border-bottom: 1px solid var(--line); }
  .rows td { padding: 0; border: 0; }
  .rows .name { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 2px 10px; }
  .rows .class { margin: 0; }
  .rows .when { padding: 4px 0 6px; }
}
`;
