/// What is shown in the place of a screen or of lines, on the feed's loop: whole states, or single items.
package struct DisplayObserver: Sendable {
    package var state: (@Sendable (DisplayState) -> Void)?
    package var item: (@Sendable (LineItem) -> Void)?

    package init(state: (@Sendable (DisplayState) -> Void)? = nil, item: (@Sendable (LineItem) -> Void)? = nil) {
        self.state = state
        self.item = item
    }
}
