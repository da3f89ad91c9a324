/**
 * Markdown to safe HTML for web pages. Raw HTML in the text is shown as text, links open elsewhere without a way back, and pictures by address
 * become links: only stored files are shown as pictures.
 * Invariant: the output contains no script, no event handler, no style and no other URL scheme than http, https and mailto.
 */

import MarkdownIt from "markdown-it";

/** Turns Markdown into HTML. `breaks` keeps single line breaks, as people expect of what they typed. */
export type RenderMarkdown = (text: string, options?: { readonly breaks?: boolean }) => string;

/** A renderer; building one costs a millisecond, using it is cheap. */
export function createMarkdownRenderer(): RenderMarkdown {
  const flowing = createParser(false);
  const breaking = createParser(true);
  return (text, options) => (options?.breaks ? breaking : flowing).render(text);
}

function createParser(breaks: boolean) {
  const parser = new MarkdownIt({ html: false, linkify: true, breaks, typographer: false });
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  parser.validateLink = (url) => /^(?:https?:|mailto:)/i.test(url.trim());
  const rules = parser.renderer.rules;
  rules.link_open = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet("target", "_blank");
    tokens[index]?.attrSet("rel", "noopener noreferrer nofollow");
    return self.renderToken(tokens, index, options);
  };
  rules.image = (tokens, index) => {
    const escapeText = parser.utils.escapeHtml;
    const source = escapeText(String(tokens[index]?.attrGet("src") ?? ""));
    const label = escapeText(tokens[index]?.content || "picture");
    return `<a href="${source}" target="_blank" rel="noopener noreferrer nofollow">${label}</a>`;
  };
  const codeBlock = (content: string, info: string) => {
    const escapeText = parser.utils.escapeHtml;
    const language = /^[\w+#.-]{1,20}/.exec(info.trim())?.[0] ?? "";
    return `<figure class="code"><figcaption><span>${escapeText(language)}</span><button type="button" data-copy>Copy</button></figcaption><pre tabindex="0"><code>${escapeText(content)}</code></pre></figure>\n`;
  };
  rules.fence = (tokens, index) => codeBlock(tokens[index]?.content ?? "", tokens[index]?.info ?? "");
  rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? "", "");
  // Column alignment comes as an inline style, which the pages' policy forbids; the old attribute says the same.
  const cell: typeof rules.td_open = (tokens, index, options, _env, self) => {
    const style = String(tokens[index]?.attrGet("style") ?? "");
    const align = /^text-align:(left|center|right)$/.exec(style)?.[1];
    return align ? `<${tokens[index]?.tag} align="${align}">` : self.renderToken(tokens, index, options);
  };
  rules.th_open = cell;
  rules.td_open = cell;
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => "</table></div>\n";
  return parser;
}
