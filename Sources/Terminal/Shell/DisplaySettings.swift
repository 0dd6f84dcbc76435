import Market

/// How the display looks, apart from what it shows.
package struct DisplaySettings: Sendable, Equatable {
    /// Whose word about the background is taken.
    package enum Theme: String, Sendable, Equatable, CaseIterable {
        /// `COLORFGBG`, or the terminal's own.
        case auto
        case dark
        case light
    }

    /// What decides how many colours are used.
    package enum Colour: String, Sendable, Equatable, CaseIterable {
        /// The terminal, unless `NO_COLOR` is set.
        case auto
        case always, never
        case sixteen = "16"
        case many = "256"
        case full
    }

    package var colour = Colour.auto
    /// How many colours are used; ``ScreenPalette/Depth/none`` under `NO_COLOR`.
    package var depth: ScreenPalette.Depth
    package var theme: Theme
    package var hues: ScreenPalette.Hues
    package var look: DisplayLook
    /// Whether the terminal's title tells the price where it is one with a title.
    package var mayTitle = true
    /// The most frames a second, 1 to 60.
    package var framesPerSecond: Int
    /// About the most bytes a second for the terminal, beyond a burst; `nil` for any number.
    package var bytesPerSecond: Int?
    /// What `COLORFGBG` says of the background.
    var statedBackground: ScreenPalette.Background?
    /// Whether the terminal is one that answers questions, or leaves them unanswered without a trace.
    var mayAsk: Bool
    /// How long an answer is waited for, ns; the first picture comes behind it.
    var patience: Int64 = 250_000_000

    var glyphs: ScreenGlyphs { self.look.glyphs }

    package init(
        depth: ScreenPalette.Depth = .sixteen,
        theme: Theme = .auto,
        hues: ScreenPalette.Hues = .standard,
        look: DisplayLook = DisplayLook(),
        framesPerSecond: Int = 10,
        bytesPerSecond: Int? = 3_500
    ) {
        self.depth = depth
        self.theme = theme
        self.hues = hues
        self.look = look
        self.framesPerSecond = framesPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.mayAsk = false
    }

    /// Takes what was chosen, and for the rest `NO_COLOR` (any value but the empty one, no-color.org), `COLORTERM`, `TERM`,
    /// `COLORFGBG` and the locale's character set.
    package init(_ chosen: DisplaySettings = DisplaySettings(), environment: (String) -> String?) {
        self = chosen
        self.depth = chosen.colour.depth(environment)
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        let isUTF8 = name.hasSuffix("utf-8") || name.hasSuffix("utf8") || name.contains("utf-8@")
        let isGraphical = Self.isGraphical(environment("TERM") ?? "")
        // The kernel's own console has no Braille, few blocks, and shows titles as text.
        self.look.glyphs = isUTF8 && environment("TERM") != "linux" ? .unicode : .ascii
        self.look.setsTitle = isGraphical && chosen.mayTitle
        self.mayAsk = isGraphical
        self.statedBackground = environment("COLORFGBG").flatMap(Self.background)
    }

    /// `foreground;background` or `foreground;default;background`, numbers of the sixteen colours (rxvt and others).
    private static func background(_ stated: String) -> ScreenPalette.Background? {
        guard let last = stated.split(separator: ";").last, let number = Int(last) else { return nil }
        // Light grey and the bright colours but dark grey.
        return number == 7 || (9...15).contains(number) ? .light : .dark
    }

    /// Whether a terminal's name is that of a program with a window, or runs in one.
    private static func isGraphical(_ term: String) -> Bool {
        [
            "xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "kitty", "wezterm", "konsole", "gnome", "vte",
            "st-",
            "ghostty", "contour", "mintty", "iterm",
        ].contains { term.hasPrefix($0) }
    }

    /// Whether the background's colour would change the picture and is not known.
    var wantsBackground: Bool {
        self.mayAsk && self.theme == .auto && self.statedBackground == nil
            && (self.depth == .many || self.depth == .full)
    }

    /// The painter for a terminal that has said so much of itself.
    func painter(_ answers: TerminalAnswers) -> ScreenPainter {
        let background: ScreenPalette.Background =
            switch self.theme {
            case .dark: .dark
            case .light: .light
            case .auto: self.statedBackground ?? answers.background ?? .unknown
            }
        return ScreenPainter(
            palette: ScreenPalette(depth: self.depth, background: background, hues: self.hues),
            synchronises: answers.synchronises ?? true
        )
    }
}

extension DisplaySettings.Colour {
    /// How many colours that comes to on this terminal.
    fileprivate func depth(_ environment: (String) -> String?) -> ScreenPalette.Depth {
        switch self {
        case .auto: environment("NO_COLOR").map { !$0.isEmpty } ?? false ? .none : Self.known(environment)
        case .always: Self.known(environment) == .none ? .sixteen : Self.known(environment)
        case .never: .none
        case .sixteen: .sixteen
        case .many: .many
        case .full: .full
        }
    }

    /// The colours of the terminal: `COLORTERM` as most terminals set it, else what `TERM` ends in.
    private static func known(_ environment: (String) -> String?) -> ScreenPalette.Depth {
        let term = environment("TERM") ?? ""
        if ["", "dumb"].contains(term) || term.hasPrefix("vt") { return .none }
        if ["truecolor", "24bit"].contains(environment("COLORTERM")?.lowercased()) { return .full }
        if term.hasSuffix("-direct") { return .full }
        return term.contains("256color") ? .many : .sixteen
    }
}
