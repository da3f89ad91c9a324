/**
 * A reference to stored bytes (SPEC M6). Bytes never travel through messages, prompts or rows; names are labels only.
 */

export interface FileRef {
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  /** Extension without dot, chosen by sniffing, lower case. */
  readonly ext: string;
  /** Label shown to people; already cleaned of path parts and control characters. */
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** Description for people who do not see the picture. */
  readonly alt?: string;
  /** Set while a person's upload is still being fetched, or could not be (SPEC W8). */
  readonly state?: "pending" | "failed";
  /** Why it could not be fetched, in words for the model; only with `failed`. */
  readonly problem?: string;
  /** Row of the File table for uploads by people. */
  readonly fileId?: string;
}

/** True for media shown as a picture. */
export function isImage(file: Pick<FileRef, "mediaType">): boolean {
  return /^image\/(png|jpeg|gif|webp|avif)$/.test(file.mediaType);
}

/** The address by which a bot names stored bytes in SendMessage; only who was told it knows it. */
export function attachmentUrl(file: Pick<FileRef, "sha256" | "ext">): string {
  return `file:///attachments/${file.sha256}.${file.ext}`;
}

/** The stored bytes an address names, when it is such an address. */
export function readAttachmentUrl(url: string): { readonly sha256: string; readonly ext: string } | undefined {
  const [, sha256, ext] = /^file:\/\/\/attachments\/([0-9a-f]{64})\.([a-z0-9]{1,10})$/.exec(url.trim()) ?? [];
  return sha256 && ext ? { sha256, ext } : undefined;
}
