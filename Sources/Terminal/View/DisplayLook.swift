package import Market

/// How a picture is drawn, apart from what it shows and from what its inks become on the terminal.
package struct DisplayLook: Sendable, Equatable {
    package var glyphs: ScreenGlyphs
    package var numbers: NumberStyle
    /// Whether a price that has changed stands out for a moment.
    package var flashes: Bool
    /// Whether the terminal's title tells the price.
    package var setsTitle: Bool

    package init(
        glyphs: ScreenGlyphs = .unicode,
        numbers: NumberStyle = NumberStyle(),
        flashes: Bool = true,
        setsTitle: Bool = false
    ) {
        self.glyphs = glyphs
        self.numbers = numbers
        self.flashes = flashes
        self.setsTitle = setsTitle
    }
}
