/** Markdown that the server has rendered to safe HTML (raw HTML switched off there; the page's policy forbids scripts besides). */

/** The one place where HTML text becomes elements. */
export function Markdown({ html, class: name }: { html: string; class?: string }) {
  return <div class={`markdown ${name ?? ""}`} dangerouslySetInnerHTML={{ __html: html }} />;
}
