/** What the page of the routes changes of the looks of Swagger UI. */
export const ROUTES_STYLE = `.swagger-ui { color: var(--text); font-family: var(--sans); }
.swagger-ui :is(h1, h2, h3, h4, h5, p, td, th, label, button, select, small, li, .opblock-summary-method, .opblock-summary-description, .opblock-description-wrapper, .parameter__name, .tablinks) { font-family: var(--sans); }
.swagger-ui :is(code, pre, textarea, .opblock-summary-path, .parameter__type, .parameter__in, .model) { font-family: var(--mono); }
.swagger-ui .wrapper { max-width: var(--width); padding: 0 var(--gap); }

/* The title, and beside it who asks. The one server there is needs no choice. */
.swagger-ui div:has(> .information-container) { display: grid; grid-template-columns: minmax(0, 1fr) auto; max-width: var(--width); margin: 0 auto; }
.swagger-ui div:has(> .information-container) > * { grid-column: 1 / -1; }
.swagger-ui div:has(> .information-container) > .information-container { grid-area: 1 / 1; width: 100%; }
.swagger-ui div:has(> .information-container) > .scheme-container { grid-area: 1 / 2; align-self: center; }
.swagger-ui .information-container:not(:has(.info)) { padding: 0; }
.swagger-ui .info { margin: 24px 0 16px; }
.swagger-ui .info hgroup.main { margin: 0 0 6px; }
.swagger-ui .info hgroup.main > a { display: none; }
.swagger-ui .info .title { color: var(--text); font-size: 28px; line-height: 1.25; letter-spacing: -0.01em; }
html:root .swagger-ui .info .title small { top: -3px; padding: 3px 7px; border-radius: 5px; background: var(--raised); }
html:root .swagger-ui .info .title small pre { color: var(--muted); font-size: 12px; }
.swagger-ui .info .description p { margin: 0 0 8px; color: var(--muted); font-size: 15px; }
html:root .swagger-ui .scheme-container { margin: 0; padding: 0; background: none; box-shadow: none; }
.swagger-ui .scheme-container .schemes { align-items: center; }
.swagger-ui .schemes-server-container { display: none !important; }
.swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
.swagger-ui .auth-wrapper .authorize { margin: 0; }

/* Themes and operations. */
.swagger-ui .opblock-tag { gap: 2px 10px; margin: 0 0 6px; padding: 12px 0 8px; border-bottom-color: var(--line); color: var(--text); font-size: 19px; }
.swagger-ui .opblock-tag > a { flex: none; }
.swagger-ui .opblock-tag small { padding: 0; color: var(--muted); font-size: 14px; }
.swagger-ui .opblock-tag small p { margin: 0; color: inherit; font-size: inherit; }
.swagger-ui .opblock-tag-section { margin-bottom: 8px; }
.swagger-ui .opblock { margin: 0 0 8px; border-radius: 7px; box-shadow: none; }
.swagger-ui .opblock .opblock-summary { padding: 4px; }
.swagger-ui .opblock-summary button:focus:not(:focus-visible) { outline: none; }
.swagger-ui .opblock .opblock-summary-method { min-width: 72px; border-radius: 5px; font-size: 12px; text-shadow: none; }
.swagger-ui .opblock .opblock-summary-path { font-size: 14px; }
.swagger-ui .opblock .opblock-summary-description { color: var(--muted); font-size: 14px; }
.swagger-ui .opblock .opblock-section-header { min-height: 40px; padding: 6px 16px; box-shadow: none; border-block: 1px solid var(--line); }
.swagger-ui .opblock .opblock-section-header h4 { font-size: 14px; }
.swagger-ui .opblock-description-wrapper { padding: 12px 16px; font-size: 14px; }
.swagger-ui .opblock-section-request-body .opblock-description-wrapper { padding: 12px 16px 0; }
.swagger-ui .opblock-description-wrapper p { margin: 0; font-size: 14px; line-height: 1.5; }
.swagger-ui .opblock-description { margin: 0; }
html:root .swagger-ui :is(.renderedMarkdown, .markdown) code { padding: 1px 4px; border-radius: 4px; background: color-mix(in srgb, var(--text) 9%, transparent); color: inherit; font-size: .92em; font-weight: 500; }
.swagger-ui .models { margin: 8px 0 32px; border-color: var(--line); }

/* What is sent. It can be sent at any time, so there is nothing to cancel. */
.swagger-ui .try-out__btn.cancel { display: none; }
.swagger-ui .try-out .btn { flex: none; width: auto; padding: 4px 14px; box-shadow: none; }
.swagger-ui .table-container { padding: 4px 16px 8px; }
html:root .swagger-ui table.parameters .parameters-col_name { width: 190px; min-width: 190px; }
.swagger-ui table thead tr :is(td, th) { padding: 8px 0; border-bottom-color: var(--line); color: var(--muted); font-size: 12px; }
.swagger-ui table tbody tr td { padding: 8px 0 0; }
.swagger-ui .parameters td > :is(.renderedMarkdown, .markdown) p { margin: 0 0 4px; font-size: 14px; line-height: 1.45; }
.swagger-ui .parameter__name { font-size: 14px; }
.swagger-ui .parameters-col_name :is(.parameter__type, .parameter__in) { display: inline-block; margin-right: 6px; padding: 0; color: var(--muted); font-weight: 400; }
.swagger-ui .parameters-col_description :is(input[type=text], select) { width: 340px; max-width: 100%; margin: 2px 0 4px; }
.swagger-ui .opblock-body select { min-width: 160px; box-shadow: none; }
.swagger-ui .offer { margin: 0 0 4px 8px; padding: 5px 10px; border: 1px dashed var(--muted); border-radius: 6px; background: none; color: var(--text); font: 13px var(--mono) !important; cursor: pointer; }
.swagger-ui .offer:hover { border-style: solid; }
.swagger-ui .body-param__text { min-height: 112px; field-sizing: content; border: 1px solid var(--line); border-radius: 6px; font-size: 13px; font-weight: 400; }
.swagger-ui .opblock-body > .btn-group, .swagger-ui .execute-wrapper { justify-content: flex-start; gap: 8px; padding: 12px 16px 16px; text-align: left; }
.swagger-ui .opblock-body .opblock-control__btn { flex: none; width: auto; min-width: 132px; border-radius: 6px; box-shadow: none; }

/* What is answered: the answer itself before how it was asked for. */
.swagger-ui .responses-inner { padding: 12px 16px; }
.swagger-ui .responses-inner div:has(> .live-responses-table) { display: flex; flex-direction: column; }
.swagger-ui .live-responses-table { order: 1; scroll-margin: 48px 0; }
.swagger-ui .responses-inner div:has(> .request-url) { order: 2; }
.swagger-ui .responses-inner .curl-command { order: 3; }
.swagger-ui .responses-inner :is(h4, h5) { margin: 8px 0 4px; font-size: 13px; }
.swagger-ui .responses-table { padding: 0; }
.swagger-ui .responses-table .response-col_status { width: 84px; min-width: 84px; font-size: 14px; font-weight: 600; }
.swagger-ui .responses-table:not(:has(.operation-link)) .response-col_links { display: none; }
.swagger-ui .response-col_description__inner p { margin: 0; font-size: 14px; }
.swagger-ui .responses-table > tbody > tr + tr > td { border-top: 1px solid var(--line); }
.swagger-ui .responses-table > tbody > tr > td { padding: 6px 0; }
.swagger-ui .responses-table > tbody > tr.problem > td { padding: 3px 0; }
.swagger-ui .response.problem .renderedMarkdown p { margin: 0; font-size: 13px; line-height: 1.7; }
.swagger-ui .response.response_current > td { background: color-mix(in srgb, var(--link) 12%, transparent); }
.swagger-ui .response-controls { padding: 4px 0; }
.swagger-ui .response-controls:not(:has(option + option)) { display: none; }
.swagger-ui .model-example { margin: 0; }
.swagger-ui .model-example .tab { margin: 0; padding: 0; }
html:root .swagger-ui .microlight { background: var(--code) !important; border-radius: 6px; font-weight: 400 !important; font-size: 12.5px; line-height: 1.5; }
.swagger-ui :is(.model-example, .live-responses-table) pre.microlight { max-height: 168px; overflow: auto; }
.swagger-ui .response[data-code=default] pre.microlight { max-height: none; }
.swagger-ui .live-responses-table .highlight-code pre.microlight { max-height: 400px; }
.swagger-ui .headers-wrapper { padding: 4px 0; }
.swagger-ui .headers-wrapper .headers__title { margin: 4px 0 0; }
html:root .swagger-ui .headers-wrapper :is(td, td p) { margin: 0; color: inherit; font-size: 13px; font-weight: 400; }
.swagger-ui .headers-wrapper :is(td, th) { padding: 3px 12px 3px 0 !important; border: 0 !important; }

/* Who asks. */
.swagger-ui .auth-container .wrapper { padding: 0; }
.swagger-ui .auth-container input { width: 100%; max-width: 100%; }
.swagger-ui .dialog-ux .modal-ux { max-width: min(600px, calc(100vw - 32px)); border-radius: 10px; }

@media (max-width: 600px) {
  html:root .swagger-ui div:has(> .information-container) > .scheme-container { grid-area: 2 / 1 / auto / -1; padding: 0 0 8px; }
  .swagger-ui .info .title .version-stamp { display: none; }
  .swagger-ui .scheme-container .auth-wrapper { justify-content: flex-start; }
  .swagger-ui .opblock-tag { display: grid; grid-template-columns: 1fr auto; }
  .swagger-ui .opblock-tag small { grid-area: 2 / 1 / auto / -1; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 58px; padding: 6px 0; }
  .swagger-ui .opblock-summary .view-line-link { display: none; }
  .swagger-ui :is(.parameters, .responses-table), .swagger-ui :is(.parameters, .responses-table) > tbody, .swagger-ui :is(.parameters, .responses-table) > tbody > tr, .swagger-ui :is(.parameters, .responses-table) > tbody > tr > td { display: block; width: 100%; min-width: 0; max-width: 100%; }
  .swagger-ui :is(.parameters, .responses-table) > thead { display: none; }
  .swagger-ui .parameters > tbody > tr { padding: 8px 0; }
  .swagger-ui .parameters > tbody > tr + tr { border-top: 1px solid var(--line); }
  html:root .swagger-ui table.parameters .parameters-col_name { display: flex !important; flex-wrap: wrap; align-items: baseline; gap: 0 8px; width: 100%; min-width: 0; padding: 0 !important; }
  .swagger-ui .parameters-col_name > div { margin: 0; padding: 0; }
  .swagger-ui .parameters-col_description { margin: 0; }
  .swagger-ui .parameters-col_description :is(input[type=text], select) { width: 100%; font-size: 16px; }
  .swagger-ui .body-param__text { font-size: 16px; }
  .swagger-ui .offer { margin: 4px 8px 4px 0; padding: 8px 12px; }
  .swagger-ui .responses-table > tbody > tr + tr > td { border-top: 0; }
  .swagger-ui .responses-table > tbody > tr + tr { border-top: 1px solid var(--line); }
  .swagger-ui .responses-table > tbody > tr > td { padding: 4px 0; }
  .swagger-ui .response.problem { display: flex !important; }
  .swagger-ui .response.problem .response-col_status { flex: 0 0 48px; width: 48px; }
}
`;
