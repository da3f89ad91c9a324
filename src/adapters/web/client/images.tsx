/** Pictures of a post as a grid, and one of them full-screen: arrows move, Escape closes, the description stands below. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { WireFile } from "../wire.ts";
import { BackIcon, CloseIcon, DownloadIcon, ForwardIcon } from "./icons.tsx";

/** One to ten pictures. */
export function ImageGrid({ images }: { images: readonly WireFile[] }) {
  const [open, setOpen] = useState<number | null>(null);
  if (images.length === 0) return null;
  return (
    <div class={`images count-${Math.min(images.length, 4)}`}>
      {images.map((image, index) => (
        <button
          key={image.url}
          type="button"
          class="picture"
          aria-label={`Open picture: ${describe(image)}`}
          onClick={() => setOpen(index)}
        >
          <img src={image.url} alt={describe(image)} loading="lazy" />
          {image.alt && (
            <span class="alt-mark" aria-hidden="true">
              ALT
            </span>
          )}
        </button>
      ))}
      {open !== null && <FullScreen images={images} start={open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function FullScreen(props: { images: readonly WireFile[]; start: number; onClose: () => void }) {
  const { images } = props;
  const element = useRef<HTMLDialogElement>(null);
  const [index, setIndex] = useState(props.start);
  const image = images[index];
  useLayoutEffect(() => element.current?.showModal(), []);
  const move = (by: number) => setIndex((index + by + images.length) % images.length);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") move(1);
    if (event.key === "ArrowLeft") move(-1);
  };
  const onBackdrop = (event: MouseEvent) => event.target === element.current && props.onClose();
  return (
    <dialog
      ref={element}
      class="full-screen"
      aria-label="Picture"
      onClose={props.onClose}
      onKeyDown={onKey}
      onClick={onBackdrop}
    >
      {image && (
        <figure>
          <img src={image.url} alt={describe(image)} />
          <figcaption aria-live="polite">
            {describe(image)}
            {images.length > 1 && ` · ${index + 1} of ${images.length}`}
          </figcaption>
        </figure>
      )}
      <div class="full-screen-bar">
        <a class="button quiet icon-button" href={image?.url} download={image?.name} aria-label="Download">
          <DownloadIcon />
        </a>
        <button type="button" class="quiet icon-button" aria-label="Close" autofocus onClick={props.onClose}>
          <CloseIcon />
        </button>
      </div>
      {images.length > 1 && (
        <>
          <button
            type="button"
            class="quiet icon-button previous"
            aria-label="Previous picture"
            onClick={() => move(-1)}
          >
            <BackIcon />
          </button>
          <button type="button" class="quiet icon-button next" aria-label="Next picture" onClick={() => move(1)}>
            <ForwardIcon />
          </button>
        </>
      )}
    </dialog>
  );
}

function describe(image: WireFile): string {
  return image.alt || image.name;
}
