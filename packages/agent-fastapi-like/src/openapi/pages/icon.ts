/** The icon of the pages. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path fill="#2f6fde" d="M16 1.5 28.6 8.75v14.5L16 30.5 3.4 23.25V8.75z"/>
<path fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" d="M11 10.5v11M21 10.5v11M11 16h10"/>
</svg>
`;
