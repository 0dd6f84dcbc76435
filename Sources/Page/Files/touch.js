// The input of the chart: mouse, touch, wheel and keyboard become a few actions. It holds no view and no bars.

const slop = 6; // px that a finger may move and still taps
const longPress = 400; // ms
const wheelLine = 16; // px of a line, where a wheel counts lines
const zoomStep = 1.25;

export class ChartInput {
    /**
     * @param element takes the input, and has the focus for the keyboard
     * @param actions all with px from the left side of the element: pan(by), zoom(at, factor) with `at` null for the
     *     usual place, cross(at) with null for none, step(bars), edge(-1 or 1), page(-1 or 1), now(), fullScreen(), leave()
     */
    constructor(element, actions) {
        this.element = element;
        this.actions = actions;
        // The pressed pointers: id to {x, y}.
        this.pointers = new Map();
        // What the pointers do: none, press (not decided), pan, cross or pinch.
        this.mode = "none";
        this.timer = null;
        const listen = (name, handler, options) => element.addEventListener(name, handler, options);
        listen("pointerdown", (event) => this.#down(event));
        listen("pointermove", (event) => this.#move(event));
        for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) listen(name, (event) => this.#up(event));
        listen("pointerleave", (event) => { if (event.pointerType !== "touch" && this.pointers.size === 0) actions.cross(null); });
        listen("wheel", (event) => this.#wheel(event), { passive: false });
        listen("dblclick", () => actions.now());
        listen("keydown", (event) => this.#key(event));
        listen("blur", () => actions.cross(null));
    }

    get isDragging() { return this.mode === "pan" || this.mode === "pinch"; }

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
        this.mode = "press";
        this.pressed = this.#place(event);
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
        if (this.mode === "pan") this.actions.pan(before.x - place.x);
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
        case "ArrowUp": case "+": case "=": return () => actions.zoom(null, 1 / zoomStep);
        case "ArrowDown": case "-": return () => actions.zoom(null, zoomStep);
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
