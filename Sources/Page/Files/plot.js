// What the chart shows between its axes: the bands of gaps, volume, and the prices as candles, a line or an area. What is
// incomplete is hatched.

import { grouped } from "./decimal.js";

/**
 * @param pen draw: the canvas' context; colours; hatch(colour): a pattern of that colour
 * @param scene see `Chart.paint`
 * @param place x(time), y(price); right, top, bottom: the sides of the plot; floor: where the volume begins; spacing: the
 *     width of a bar, px
 */
export function drawPlot(pen, scene, { spacing, ...place }) {
    // The width of a column's body, px.
    place.body = Math.round(Math.min(60, Math.max(1, spacing * 0.7)));
    place.lefts = leftSides(scene.columns, scene.series, place);
    gaps(pen, scene, place);
    if (scene.hasVolume) volume(pen, scene, place);
    if (scene.prices != null) {
        // Prices beyond the user's limits do not run into the volume.
        pen.draw.beginPath();
        pen.draw.rect(0, 0, place.right, place.floor);
        pen.draw.clip();
    }
    if (scene.isFaint) pen.draw.globalAlpha = 0.5;
    if (scene.kind === "candles") candles(pen, scene, place);
    else line(pen, scene, place);
}

/** Draws the bands of the gaps, and on top of each how many trades are lost for good. */
function gaps({ draw, colours }, { gaps, view }, { x, right, top, bottom }) {
    draw.textAlign = "center";
    draw.textBaseline = "top";
    let free = -Infinity;
    for (const gap of gaps) {
        const from = x(Math.max(gap.from, view.from));
        const width = Math.max(2, x(Math.min(gap.to, view.to)) - from);
        draw.fillStyle = colours.gap;
        draw.fillRect(from, top, width, bottom - top);
        if (gap.lost === 0n) continue;
        const text = `${grouped(String(gap.lost))} lost`;
        const half = draw.measureText(text).width / 2;
        const at = Math.min(Math.max(from + width / 2, half), right - half);
        if (at - half < free) continue;
        draw.fillStyle = colours.text;
        draw.fillText(text, at, top + 2);
        free = at + half + 6;
    }
}

/** Returns the left side of each column's body: of whole pixels, so that equal bars look equal. */
function leftSides(columns, { bars, width }, { x, body }) {
    return columns.map(({ first, last }) => Math.round(x((bars[first].start + bars[last].start + width) / 2) - body / 2));
}

function volume({ draw, colours, hatch }, { columns }, { bottom, floor, body, lefts }) {
    let most = 0;
    for (const column of columns) most = Math.max(most, column.volume);
    if (most === 0) return;
    const scale = (bottom - floor - 4) / most;
    for (const isHatched of [false, true]) {
        draw.beginPath();
        for (let index = 0; index < columns.length; index += 1) {
            const column = columns[index];
            if (column.incomplete !== isHatched) continue;
            draw.rect(lefts[index], bottom - column.volume * scale, body, column.volume * scale);
        }
        draw.fillStyle = isHatched ? hatch(colours.text) : colours.volume;
        draw.fill();
    }
}

function candles(pen, { columns, series }, place) {
    const { draw, colours, hatch } = pen;
    const { y, body, lefts } = place;
    const { bars } = series;
    const hasBodies = body >= 3;
    for (const [isUp, colour] of [[true, colours.up], [false, colours.down]]) {
        const hatched = [];
        // Rectangles in one path cost less than lines.
        draw.beginPath();
        for (let index = 0; index < columns.length; index += 1) {
            const { first, last, low, high, incomplete } = columns[index];
            const open = bars[first].first;
            const close = bars[last].last;
            if (close >= open !== isUp) continue;
            const left = lefts[index];
            const top = y(high);
            draw.rect(left + Math.floor(body / 2), top, 1, Math.max(1, y(low) - top));
            if (!hasBodies) continue;
            const from = y(Math.max(open, close));
            const height = Math.max(1, y(Math.min(open, close)) - from);
            if (incomplete) hatched.push([left, from, body, height]);
            else draw.rect(left, from, body, height);
        }
        draw.fillStyle = draw.strokeStyle = colour;
        draw.fill();
        draw.lineWidth = 1;
        for (const rectangle of hatched) {
            for (const style of [colours.paper, hatch(colour)]) {
                draw.fillStyle = style;
                draw.fillRect(...rectangle);
            }
            draw.strokeRect(...rectangle);
        }
    }
    if (!hasBodies) hatchedTimes(pen, columns, series, place);
}

/** Hatches the times of incomplete bars over the whole height. */
function hatchedTimes({ draw, colours, hatch }, columns, { bars, width }, { x, top, bottom }) {
    let from = null;
    let to = null;
    draw.beginPath();
    const close = () => { if (from !== null) draw.rect(from, top, Math.max(2, to - from), bottom - top); };
    for (const { first, last, incomplete } of columns) {
        if (!incomplete) continue;
        const left = x(bars[first].start);
        if (from === null || left > to + 1) {
            close();
            from = left;
        }
        to = x(bars[last].start + width);
    }
    close();
    draw.fillStyle = hatch(colours.hatch);
    draw.fill();
}

/** Draws the range of each bar, from its lowest to its highest price, behind the line. */
function spans({ draw, colours }, columns, { bars, width }, { x, y }) {
    draw.beginPath();
    for (const { first, last, low, high } of columns) {
        if (high === low) continue;
        const from = x(bars[first].start);
        draw.rect(from, y(high), Math.max(1, x(bars[last].start + width) - from), y(low) - y(high));
    }
    draw.fillStyle = colours.span;
    draw.fill();
}

function line(pen, { columns, series, gaps, kind, now, isFaint }, place) {
    const { draw, colours } = pen;
    const { x, y, floor } = place;
    const { bars, width } = series;
    hatchedTimes(pen, columns, series, place);
    if (kind === "line") spans(pen, columns, series, place);
    draw.beginPath();
    const area = new Path2D();
    let start = null;
    let at = 0;
    let price = 0;
    let next = 0;
    const to = (where) => {
        draw.lineTo(where, price);
        area.lineTo(where, price);
        at = where;
    };
    const end = () => {
        if (start === null) return;
        area.lineTo(at, floor);
        area.lineTo(start, floor);
        area.closePath();
    };
    for (const { first, last } of columns) {
        const begin = bars[first].start;
        const before = first === 0 ? begin : bars[first - 1].start + width;
        // No line leads over a gap.
        while (next < gaps.length && gaps[next].to <= before) next += 1;
        if (start === null || (next < gaps.length && gaps[next].from < begin)) {
            end();
            const centre = (x(begin) + x(bars[last].start + width)) / 2;
            start = next < gaps.length && gaps[next].from < begin ? Math.min(centre, Math.max(x(begin), x(gaps[next].to))) : x(begin);
            price = y(bars[first].first);
            draw.moveTo(start, price);
            area.moveTo(start, price);
        } else if (before < begin) {
            // A price holds until the next one.
            to(x(begin));
        }
        price = y(bars[last].last);
        to((x(bars[last].start) + x(bars[last].start + width)) / 2);
    }
    const final = bars[columns[columns.length - 1]?.last];
    if (final !== undefined) {
        const isNewest = final === bars[bars.length - 1];
        to(x(isNewest && !isFaint ? Math.max(now, final.start) : Math.min(final.start + width, Math.max(now, final.start))));
    }
    end();
    if (kind === "area") {
        draw.fillStyle = colours.span;
        draw.fill(area);
    }
    draw.strokeStyle = colours.line;
    draw.lineWidth = 1.5;
    draw.stroke();
}
