/**
 * What the page of the routes runs. It changes three things of Swagger UI: a problem is one row, since all problems have one form; an
 * answer comes into sight; a text with examples offers them.
 */
export const START = `const dark = window.matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

const PROBLEM = 'application/problem+json';

function isProblem(response) {
  const content = response.get('content');
  return content !== undefined && content.size === 1 && content.has(PROBLEM);
}

function showAnswer(path, method) {
  for (const summary of document.querySelectorAll('.opblock-' + method + ' .opblock-summary-path')) {
    if (summary.dataset.path !== path) continue;
    const answer = summary.closest('.opblock').querySelector('.live-responses-table');
    if (answer !== null) answer.scrollIntoView({ block: 'nearest' });
  }
}

const hexagent = () => ({
  wrapComponents: {
    response: (Original, { React }) => (props) => {
      const { code, response, className, getComponent } = props;
      if (code === 'default' || !isProblem(response)) return React.createElement(Original, props);
      return React.createElement(
        'tr',
        { className: 'response problem ' + className, 'data-code': code },
        React.createElement('td', { className: 'response-col_status' }, code),
        React.createElement(
          'td',
          { className: 'response-col_description' },
          React.createElement(getComponent('Markdown', true), { source: response.get('description') }),
        ),
      );
    },
    JsonSchema_string: (Original, { React }) => (props) => {
      const { schema, onChange } = props;
      const field = React.createElement(Original, props);
      if (!schema.has('examples') || schema.has('enum')) return field;
      const offer = (text) =>
        React.createElement(
          'button',
          { key: text, type: 'button', className: 'offer', onClick: () => onChange(text) },
          text,
        );
      return React.createElement(React.Fragment, null, field, ...schema.get('examples').map(String).toArray().map(offer));
    },
  },
  statePlugins: {
    spec: {
      wrapActions: {
        setResponse: (original) => (path, method, response) => {
          const action = original(path, method, response);
          requestAnimationFrame(() => showAnswer(path, method));
          return action;
        },
      },
    },
  },
});

SwaggerUIBundle({
  dom_id: '#docs',
  url: new URL('openapi.json', window.location.href).href,
  validatorUrl: null,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  plugins: [hexagent],
});
`;
