// The input of the chart: mouse, touch, wheel and keyboard become a few actions. It holds no view and no bars.

const slop = 6; // px that a finger may move and still taps
const longPress = 400; // ms
const wheelLine = 16; // px of a line, where a wheel counts lines
const zoomStep = 1.25;
const scaleLength = 150; // px on the axis of the prices that scale them by e

export class ChartInput {
    /**
     * @param element takes the input, and has the focus for the keyboard
     * @param actions all with px from the left side of the element: pan(by, up) with px upwards, too, zoom(at,
     *     factor) with `at` null for the usual place, axis(): where the axis of the prices begins, scale(factor): its
     *     length, followPrices(), cross(at) with null for none, step(bars), edge(-1 or 1), page(-1 or 1),
     *     reset(): the view at first, fullScreen(), leave()
     */
    constructor(element, actions) {
        this.element = element;
        this.actions = actions;
        // The pressed pointers: id to {x, y}.
        this.pointers = new Map();
        // What the pointers do: none, press (not decided), pan, cross, pinch or scale (of the prices).
        this.mode = "none";
        this.timer = null;
        const listen = (name, handler, options) => element.addEventListener(name, handler, options);
        listen("pointerdown", (event) => this.#down(event));
        listen("pointermove", (event) => this.#move(event));
        for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) listen(name, (event) => this.#up(event));
        listen("pointerleave", (event) => { if (event.pointerType !== "touch" && this.pointers.size === 0) actions.cross(null); });
        listen("wheel", (event) => this.#wheel(event), { passive: false });
        listen("dblclick", (event) => (this.#isOnAxis(this.#place(event)) ? actions.followPrices() : actions.reset()));
        // A finger on the axis scales the prices, and does not scroll the page.
        listen("touchstart", (event) => {
            if (this.#isOnAxis(this.#place(event.touches[0])) && event.cancelable) event.preventDefault();
        }, { passive: false });
        listen("keydown", (event) => this.#key(event));
        listen("blur", () => actions.cross(null));
    }

    get isDragging() { return ["pan", "pinch", "scale"].includes(this.mode); }

    #isOnAxis({ x }) { return x >= (this.actions.axis() ?? Infinity); }

    #place(event) {
        const box = this.element.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    }

    #down(event) {
        if (event.button !== 0 || this.pointers.size === 2) return;
        this.pointers.set(event.pointerId, this.#place(event));
        try {
            this.element.setPointerCapture(event.pointerId);
        } catch {
            // The pointer is gone already.
        }
        clearTimeout(this.timer);
        if (this.pointers.size === 2) {
            this.mode = "pinch";
            this.actions.cross(null);
            return;
        }
        this.pressed = this.#place(event);
        this.mode = this.#isOnAxis(this.pressed) ? "scale" : "press";
        if (this.mode === "scale") return this.actions.cross(null);
        if (event.pointerType !== "touch") return;
        this.timer = setTimeout(() => {
            if (this.mode !== "press") return;
            this.mode = "cross";
            this.actions.cross(this.pressed.x);
        }, longPress);
    }

    #move(event) {
        const place = this.#place(event);
        const before = this.pointers.get(event.pointerId);
        const over = this.mode === "scale" || this.#isOnAxis(place) ? "axis" : "plot";
        if (this.element.dataset.over !== over) this.element.dataset.over = over;
        if (before === undefined) {
            if (event.pointerType !== "touch" && this.pointers.size === 0) this.actions.cross(place.x);
            return;
        }
        if (this.mode === "pinch") return this.#pinch(event.pointerId, place);
        if (this.mode === "press") {
            if (Math.abs(place.x - this.pressed.x) < (event.pointerType === "touch" ? slop : 2)) return;
            clearTimeout(this.timer);
            this.mode = "pan";
            this.actions.cross(null);
        }
        if (this.mode === "cross") this.actions.cross(place.x);
        // A finger that moves up scrolls the page.
        if (this.mode === "pan") this.actions.pan(before.x - place.x, event.pointerType === "touch" ? 0 : place.y - before.y);
        if (this.mode === "scale") this.actions.scale(Math.exp((place.y - before.y) / scaleLength));
        this.pointers.set(event.pointerId, place);
    }

    #pinch(id, place) {
        const other = [...this.pointers].find(([each]) => each !== id)?.[1];
        const before = this.pointers.get(id);
        if (other === undefined) return;
        const distance = (one) => Math.max(20, Math.hypot(one.x - other.x, one.y - other.y));
        const centre = (one) => (one.x + other.x) / 2;
        this.actions.pan(centre(before) - centre(place));
        this.actions.zoom(centre(place), distance(before) / distance(place));
        this.pointers.set(id, place);
    }

    #up(event) {
        if (!this.pointers.delete(event.pointerId)) return;
        clearTimeout(this.timer);
        if (this.pointers.size === 1) {
            // The finger that stays goes on to drag.
            this.mode = "pan";
            return;
        }
        const isTap = this.mode === "press" && event.type === "pointerup";
        this.mode = "none";
        if (isTap && event.pointerType === "touch") this.actions.cross(this.pressed.x, true);
        else if (event.pointerType !== "touch" && event.type === "pointerup") this.actions.cross(this.#place(event).x);
    }

    #wheel(event) {
        event.preventDefault();
        const unit = event.deltaMode === 1 ? wheelLine : event.deltaMode === 2 ? this.element.clientWidth : 1;
        if (!event.ctrlKey && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
            this.actions.pan((event.deltaX || event.deltaY) * unit);
            return;
        }
        // A pinch on a touchpad arrives as a wheel with Ctrl, in smaller steps.
        const speed = event.ctrlKey ? 0.01 : 0.0015;
        const by = Math.max(-200, Math.min(200, event.deltaY * unit));
        this.actions.zoom(this.#place(event).x, Math.exp(by * speed));
    }

    #key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = this.#keyAction(event.key, event.shiftKey ? 10 : 1);
        if (act === null) return;
        event.preventDefault();
        act();
    }

    #keyAction(key, count) {
        const { actions } = this;
        switch (key) {
        case "ArrowLeft": return () => actions.step(-count);
        case "ArrowRight": return () => actions.step(count);
        case "ArrowUp": case "ArrowDown":
            if (count > 1) return () => actions.scale(key === "ArrowUp" ? 1 / zoomStep : zoomStep);
            return () => actions.zoom(null, key === "ArrowUp" ? 1 / zoomStep : zoomStep);
        case "a": case "A": return () => actions.followPrices();
        case "+": case "=": return () => actions.zoom(null, 1 / zoomStep);
        case "-": return () => actions.zoom(null, zoomStep);
        case "PageUp": return () => actions.page(-1);
        case "PageDown": return () => actions.page(1);
        case "Home": return () => actions.edge(-1);
        case "End": return () => actions.edge(1);
        case "f": case "F": return () => actions.fullScreen();
        case "Escape": return () => actions.leave();
        default: return null;
        }
    }
}
