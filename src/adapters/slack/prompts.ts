/** Prompts to begin with, as Slack's manifest and its API take them: four at most, with a short title each. */

/** The prompts offered when a person opens a bot's direct messages. */
export function suggestedPrompts(): readonly { readonly title: string; readonly message: string }[] {
  return [
    { title: "What can you do?", message: "What can you do, and what would you need from me?" },
    { title: "Plan something", message: "Help me plan something: ask me what you need to know first." },
    { title: "Sum something up", message: "Sum up what I paste next, in five sentences." },
  ];
}
