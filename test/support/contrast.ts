/**
 * A script that runs in a page and lists its weak texts: those whose contrast with their ground is below 4.5 : 1, except on disabled controls.
 * It is a text because tests are checked without the browser's types.
 */

/** For `page.evaluate`; gives a list of descriptions. */
export const WEAK_TEXTS = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!canvas) return ["no canvas"];
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r = 0, g = 0, b = 0] = color.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = rgba(getComputedStyle(one).backgroundColor);
      if ((color[3] ?? 0) > 250) return color;
    }
    return [255, 255, 255, 255];
  };
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    if (!own || !element.checkVisibility() || element.closest(":disabled, [inert], .visually-hidden, .skip, svg"))
      continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(groundOf(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5)
      weak.push([element.className || element.tagName, element.textContent.slice(0, 20), ratio.toFixed(2)].join(" "));
  }
  return weak;
})()`;
