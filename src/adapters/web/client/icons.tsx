/** The page's icons: drawn, so that no font or sprite has to load. All are decoration; controls carry their own label. */

import type { ComponentChildren } from "preact";

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

function stroke(path: string) {
  return () => (
    <Icon>
      <path d={path} />
    </Icon>
  );
}

/** Three lines: opens the list. */
export const MenuIcon = stroke("M3 5.5h14M3 10h14M3 14.5h9");
/** Plus: makes something new. */
export const PlusIcon = stroke("M10 4v12M4 10h12");
/** Hash: a channel. */
export const HashIcon = stroke("M7.5 3.5 6 16.5M14 3.5l-1.5 13M3.5 7.5h13M3 12.5h13");
/** Arrow up: sends. */
export const SendIcon = stroke("M10 16V4.5M5 9.5l5-5 5 5");
/** Paper clip: attaches files. */
export const ClipIcon = stroke(
  "m15.5 9.5-5.8 5.8a3.5 3.5 0 0 1-5-5l6.2-6.1a2.3 2.3 0 0 1 3.3 3.3l-6.1 6.1a1.2 1.2 0 0 1-1.7-1.7l5.3-5.2",
);
/** Cross: closes or removes. */
export const CloseIcon = stroke("m5 5 10 10M15 5 5 15");
/** Tick: chosen or done. */
export const CheckIcon = stroke("m4 10.5 4 4 8-9");
/** Lock: private or secret. */
export const LockIcon = stroke("M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9M10 12v1.8");
/** Sheet: a file. */
export const FileIcon = stroke("M5 2.8h6.5l3.5 3.6v10.8H5zM11.3 2.8v3.8H15");
/** Arrow into a tray: downloads. */
export const DownloadIcon = stroke("M10 3.5v9M6 9l4 4 4-4M4 16.5h12");
/** Arrow down: to the newest. */
export const DownIcon = stroke("M10 4v12M5 11l5 5 5-5");
/** Angle left: previous. */
export const BackIcon = stroke("m12.5 4-6 6 6 6");
/** Angle right: next. */
export const ForwardIcon = stroke("m7.5 4 6 6-6 6");
/** Sliders: settings. */
export const GearIcon = stroke("M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4");
/** Cloud with a prompt: a cloud agent. */
export const CloudIcon = stroke(
  "M6 15.5a3.5 3.5 0 0 1-.4-7 4.8 4.8 0 0 1 9.2 1 3 3 0 0 1-.3 6zM8 11.5l1.5 1.3L8 14M11 14h1.5",
);
/** Arrow out of a box: leads elsewhere. */
export const OutIcon = stroke("M8 4.5H4.5v11h11V12M11.5 4.5h4v4M15.2 4.8 9 11");
/** Square: stops work. */
export const StopIcon = () => (
  <Icon>
    <rect class="filled" x="5" y="5" width="10" height="10" rx="2" />
  </Icon>
);
