/// How the display looks, apart from what it shows.
package struct DisplaySettings: Sendable, Equatable {
    package enum Colour: Sendable, Equatable {
        /// The terminal's own sixteen, which follow its light or dark theme.
        case auto
        case never
    }

    package var colour: Colour
    package var glyphs: ScreenGlyphs
    /// The most frames a second, 1 to 60.
    package var framesPerSecond: Int

    package init(colour: Colour = .auto, glyphs: ScreenGlyphs = .unicode, framesPerSecond: Int = 10) {
        self.colour = colour
        self.glyphs = glyphs
        self.framesPerSecond = framesPerSecond
    }

    /// Reads `NO_COLOR` (any value but the empty one, no-color.org) and the locale's character set.
    package init(environment: (String) -> String?) {
        let noColour = environment("NO_COLOR").map { !$0.isEmpty } ?? false
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        let isUTF8 = name.hasSuffix("utf-8") || name.hasSuffix("utf8") || name.contains("utf-8@")
        self.init(colour: noColour ? .never : .auto, glyphs: isUTF8 ? .unicode : .ascii)
    }
}
