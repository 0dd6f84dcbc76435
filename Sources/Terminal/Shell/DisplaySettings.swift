import Market

/// The style of the display, separate from its contents.
package struct DisplaySettings: Sendable, Equatable {
    /// The source of the background's brightness.
    package enum Theme: String, Sendable, Equatable, CaseIterable {
        /// `COLORFGBG`, or else the terminal's answer.
        case auto
        case dark
        case light
    }

    /// The source of the number of colours.
    package enum Colour: String, Sendable, Equatable, CaseIterable {
        /// The terminal, unless `NO_COLOR` is set.
        case auto
        case always, never
        case sixteen = "16"
        case many = "256"
        case full
    }

    /// The limit of the bytes for the terminal.
    package enum ByteLimit: Sendable, Equatable {
        /// A limit if the terminal is on another machine, and none otherwise.
        case auto
        case none
        /// About as many a second, beyond a burst of one second's worth.
        case perSecond(Int)
    }

    /// The limit on another machine's terminal, bytes a second: pleasant over a slow link.
    private static let remoteBytes = 3_500

    package var colour = Colour.auto
    /// The number of colours; ``ScreenPalette/Depth/none`` under `NO_COLOR`.
    package var depth: ScreenPalette.Depth
    package var theme: Theme
    package var hues: ScreenPalette.Hues
    package var look: DisplayLook
    /// The zone of the times on the screen and on the page.
    package var timeZone = TimeZoneChoice.local
    /// Whether the terminal's title shows the price, if the terminal has a title.
    package var mayTitle = true
    /// The groups of symbols, in the order of their tabs.
    package var groups: [SymbolGroup] = []
    /// Notes about symbols, with their names as written.
    package var notes: [SymbolNote] = []
    /// Whether amounts of money are hidden until a key shows them.
    package var hidesAmounts = false
    /// Whether the screen begins with the mouse, which then cannot select text.
    package var takesMouse = false
    /// The largest number of frames per second, 1 to 60.
    package var framesPerSecond: Int
    package var byteLimit: ByteLimit
    /// The background that `COLORFGBG` states.
    var statedBackground: ScreenPalette.Background?
    /// Whether the terminal answers queries, or at least ignores them.
    var mayAsk: Bool
    /// Whether `TERM` names a terminal of which some versions draw octants.
    private var mayHaveOctants = false
    /// The wait for an answer, ns; the first frame follows it.
    var patience: Int64 = 250_000_000

    var glyphs: ScreenGlyphs { self.look.glyphs }

    package init(
        depth: ScreenPalette.Depth = .sixteen,
        theme: Theme = .auto,
        hues: ScreenPalette.Hues = .standard,
        look: DisplayLook = DisplayLook(),
        framesPerSecond: Int = 10,
        byteLimit: ByteLimit = .auto
    ) {
        self.depth = depth
        self.theme = theme
        self.hues = hues
        self.look = look
        self.framesPerSecond = framesPerSecond
        self.byteLimit = byteLimit
        self.mayAsk = false
    }

    /// The limit that applies, bytes a second; `nil` for no limit. Until the environment is known, the terminal may be on
    /// another machine.
    var bytesPerSecond: Int? {
        switch self.byteLimit {
        case .none: nil
        case .perSecond(let bytes): bytes
        case .auto: Self.remoteBytes
        }
    }

    /// Whether the variables of sshd(8) say that the terminal is on another machine. mosh keeps those of its ssh.
    private static func isRemote(_ environment: (String) -> String?) -> Bool {
        ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].contains { environment($0)?.isEmpty == false }
    }

    /// Takes the chosen values, and the rest from `NO_COLOR` (any non-empty value, no-color.org), `COLORTERM`, `TERM`,
    /// `COLORFGBG`, `SSH_CONNECTION` and its like, and the locale's character set.
    package init(_ chosen: DisplaySettings = DisplaySettings(), environment: (String) -> String?) {
        self = chosen
        self.depth = chosen.colour.depth(environment)
        if self.byteLimit == .auto {
            self.byteLimit = Self.isRemote(environment) ? .perSecond(Self.remoteBytes) : .none
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        let isUTF8 = name.hasSuffix("utf-8") || name.hasSuffix("utf8") || name.contains("utf-8@")
        let isGraphical = Self.isGraphical(environment("TERM") ?? "")
        // The kernel's console has no Braille and few block characters, and prints titles as text.
        self.look.glyphs = isUTF8 && environment("TERM") != "linux" ? .unicode : .ascii
        self.look.hasLinks = isGraphical
        self.look.setsTitle = isGraphical && chosen.mayTitle
        self.mayAsk = isGraphical
        self.mayHaveOctants = TerminalAnswers.mayDrawOctants(environment("TERM") ?? "")
        self.statedBackground = environment("COLORFGBG").flatMap(Self.background)
    }

    /// Parses `foreground;background` or `foreground;default;background`, numbers of the sixteen colours (rxvt and
    /// others).
    private static func background(_ stated: String) -> ScreenPalette.Background? {
        guard let last = stated.split(separator: ";").last, let number = Int(last) else { return nil }
        // Light grey, and the bright colours except dark grey.
        return number == 7 || (9...15).contains(number) ? .light : .dark
    }

    /// Whether `TERM` names a terminal with a window, or a multiplexer in one.
    private static func isGraphical(_ term: String) -> Bool {
        [
            "xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "kitty", "wezterm", "konsole", "gnome", "vte",
            "st-",
            "ghostty", "contour", "mintty", "iterm",
        ].contains { term.hasPrefix($0) }
    }

    /// Whether the background's colour is unknown and would change the screen.
    var wantsBackground: Bool {
        self.mayAsk && self.theme == .auto && self.statedBackground == nil
            && (self.depth == .many || self.depth == .full)
    }

    /// Whether an answer of the terminal can change the screen.
    var wantsAnswers: Bool {
        self.wantsBackground || self.mayAsk && self.mayHaveOctants && self.glyphs == .unicode
    }

    /// Returns the look for a terminal with these answers.
    func look(_ answers: TerminalAnswers) -> DisplayLook {
        var look = self.look
        look.hasOctants = answers.hasOctants
        return look
    }

    /// Returns the painter for a terminal with these answers.
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
    /// Returns the number of colours on this terminal.
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

    /// Returns the terminal's number of colours, from `COLORTERM` as most terminals set it, else from the end of
    /// `TERM`.
    private static func known(_ environment: (String) -> String?) -> ScreenPalette.Depth {
        let term = environment("TERM") ?? ""
        if ["", "dumb"].contains(term) || term.hasPrefix("vt") { return .none }
        if ["truecolor", "24bit"].contains(environment("COLORTERM")?.lowercased()) { return .full }
        if term.hasSuffix("-direct") { return .full }
        return term.contains("256color") ? .many : .sixteen
    }
}
