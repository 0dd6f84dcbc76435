// How texts come into the page: as text, never as HTML, and only when they change. A text that is written anew costs a
// layout.

export const find = (id) => document.getElementById(id);

/** Sets the text of an element that holds nothing but text. */
export function setText(element, text) {
    const node = element.firstChild;
    // A changed node costs less than another one in its place.
    if (node === null || node.nodeType !== Node.TEXT_NODE || node.nextSibling !== null) {
        if (element.textContent !== text) element.textContent = text;
    } else if (node.data !== text) {
        node.data = text;
    }
}

export function setData(element, key, value) {
    if (element.dataset[key] !== value) element.dataset[key] = value;
}
