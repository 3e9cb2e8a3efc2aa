// Elements of the page. All text goes through textContent: a name is never markup.

/** An element with properties and children; `on...` are listeners, `aria` and `data` are groups. */
export function el(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
        if (key === 'aria')
            for (const [name, text] of Object.entries(value))
                element.setAttribute(`aria-${name}`, text);
        else if (key === 'class') element.className = value;
        else if (key === 'for') element.htmlFor = value;
        else element[key] = value;
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

const icons = {
    play: 'M8 5.5v13l10.5-6.5z',
    pause: 'M7 5h3.6v14H7zM13.4 5H17v14h-3.6z',
    loop:
        'M17 3l4 4-4 4V8H8a4 4 0 0 0-4 4H2a6 6 0 0 1 6-6h9z' +
        'M7 21l-4-4 4-4v3h9a4 4 0 0 0 4-4h2a6 6 0 0 1-6 6H7z',
    fit: 'M4 9V4h5v2H6v3zM15 4h5v5h-2V6h-3zM20 15v5h-5v-2h3v-3zM9 20H4v-5h2v3h3z',
    theme: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 5a7 7 0 0 1 0 14z',
    chart: 'M4 4h2v14h14v2H4zM8 14l3.5-4.5 3 2.5L19 6.5l1.5 1.2-5.7 7-3-2.5L9.5 15.200z',
    panel: 'M4 5h16v2H4zM4 11h16v2H4zM4 17h16v2H4z',
    help:
        'M11 17h2v2h-2zM12 5a4 4 0 0 0-4 4h2a2 2 0 1 1 3.2 1.6C11.9 11.5 11 12.5 11 15h2' +
        'c0-1.8.6-2.3 1.5-3A4 4 0 0 0 12 5z',
    camera: 'M9 5l-1.500 2H4v12h16V7h-3.500L15 5zM12 9a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
    reset: 'M12 5V2L7.500 6.500 12 11V8a5 5 0 1 1-5 5H5a7 7 0 1 0 7-8z',
};

export function icon(name) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', icons[name]);
    svg.append(path);
    return svg;
}

/** A button with a picture. */
export function iconButton(name, label, onclick, more = {}) {
    return el(
        'button',
        { type: 'button', class: 'icon', title: label, aria: { label }, onclick, ...more },
        icon(name)
    );
}

/** A number as a person would write it. */
export function show(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 2).replace('e+', 'e');
    return String(Number(value.toPrecision(digits)));
}
