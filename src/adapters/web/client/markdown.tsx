/** Markdown that the server has rendered to safe HTML (raw HTML switched off there; the page's policy forbids scripts besides). */

/** The one place where HTML text becomes elements. */
export function Markdown({ html, class: name }: { html: string; class?: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: rendered by our server with raw HTML off, see shared/markdown-html.ts.
  return <div class={`markdown ${name ?? ""}`} dangerouslySetInnerHTML={{ __html: html }} />;
}
