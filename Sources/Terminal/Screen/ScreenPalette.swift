/// The inks' colours on a terminal: the parameters of `SGR` (ECMA-48, 8.3.117).
package struct ScreenPalette: Sendable, Equatable {
    /// The number of colours that the terminal supports.
    package enum Depth: String, Sendable, CaseIterable {
        case none
        /// The terminal's standard sixteen, which follow its theme.
        case sixteen = "16"
        case many = "256"
        case full
    }

    /// The background of the text.
    enum Background: Sendable, Equatable {
        case dark
        case light
        /// Only the terminal's sixteen colours are readable on it for certain.
        case unknown
    }

    /// The pair of colours for up and down.
    package enum Hues: String, Sendable, CaseIterable {
        /// Green and red.
        case standard
        /// Blue and orange, which nearly everybody can tell apart.
        case colourBlind = "colour-blind"
    }

    /// The codes of each ink as text, and of text and background while a price flashes; empty for the terminal's
    /// default.
    private let inks: [String]
    private let flashInks: [String]
    private let flashes: [String]
    /// The same of the two darker tones; empty where the terminal has none, and shows dim text instead.
    private let shaded: [String]
    private let deep: [String]
    private let depth: Depth

    init(depth: Depth, background: Background = .unknown, hues: Hues = .standard) {
        let depth = background == .unknown && depth != .none ? .sixteen : depth
        self.depth = depth
        let isBlue = hues == .colourBlind
        let isLight = background == .light
        if depth == .many || depth == .full {
            let shades = Shades(isLight: isLight, isBlue: isBlue)
            let isFull = depth == .full
            self.shaded = CellStyle.Ink.allCases.map { shades.tones($0).0.code(foreground: true, isFull: isFull) }
            self.deep = CellStyle.Ink.allCases.map { shades.tones($0).1.code(foreground: true, isFull: isFull) }
        } else {
            self.shaded = CellStyle.Ink.allCases.map { _ in "" }
            self.deep = self.shaded
        }
        switch depth {
        case .none:
            self.inks = CellStyle.Ink.allCases.map { _ in "" }
            self.flashInks = self.inks
            self.flashes = self.inks
        case .sixteen:
            // Bright blue, since plain blue is hardly readable on black; on white, plain blue is better.
            let (up, down) = isBlue ? (isLight ? "34" : "94", "33") : ("32", "31")
            self.inks = CellStyle.Ink.allCases.map { ink in
                switch ink {
                case .plain, .faint, .grey: ""
                case .rising: up
                case .falling: down
                case .good: isBlue ? up : "32"
                case .warning: "33"
                case .alarm: "31"
                case .accent: "36"
                case .violet: "35"
                case .magenta: "95"
                }
            }
            self.flashInks = self.inks
            self.flashes = self.inks.map { _ in "7" }
        case .many, .full:
            let shades = Shades(isLight: isLight, isBlue: isBlue)
            let isFull = depth == .full
            self.inks = CellStyle.Ink.allCases.map { shades.ink($0)?.code(foreground: true, isFull: isFull) ?? "" }
            self.flashInks = CellStyle.Ink.allCases.map {
                shades.flashInk($0)?.code(foreground: true, isFull: isFull) ?? ""
            }
            self.flashes = CellStyle.Ink.allCases.map { shades.flash($0).code(foreground: false, isFull: isFull) }
        }
    }

    /// Returns the colour of an ink as `#RRGGBB`; `nil` for the default of the text.
    static func hexadecimal(_ ink: CellStyle.Ink, isLight: Bool, hues: Hues) -> String? {
        Shades(isLight: isLight, isBlue: hues == .colourBlind).ink(ink).map(\.hexadecimal)
    }

    /// Returns the parameters that select a style from any other.
    func codes(_ style: CellStyle) -> String { self.rendition(style).codes }

    /// Returns the parameters that change the old style to the new one: the differences, or a full selection where that
    /// is shorter; empty for the terminal's default, `nil` where both look the same here.
    func change(from old: CellStyle, to new: CellStyle) -> String? {
        let (before, after) = (self.rendition(old), self.rendition(new))
        if before == after { return nil }
        if after == self.rendition(.plain) { return "" }
        let anew = after.codes
        // A terminal without colours may be an old one, which can turn an attribute on, but not off.
        guard self.depth != .none else { return anew }
        let step = after.codes(behind: before)
        return step.utf8.count <= anew.utf8.count ? step : anew
    }

    private func rendition(_ style: CellStyle) -> Rendition {
        let tones = style.attributes.contains(.deep) ? self.deep : self.shaded
        let isShaded = !style.attributes.isDisjoint(with: [.shaded, .deep])
        let tone = isShaded ? tones[Int(style.ink.rawValue)] : ""
        let ink = tone.isEmpty ? self.inks[Int(style.ink.rawValue)] : tone
        var rendition = Rendition(ink: ink)
        rendition.isBold = style.attributes.contains(.bold)
        // With many colours, the faint ink is a grey.
        let isFaint = (style.ink == .faint || style.ink == .grey) && ink.isEmpty || isShaded && tone.isEmpty
        rendition.isDim = style.attributes.contains(.dim) || isFaint
        rendition.isReversed = style.attributes.contains(.reversed)
        rendition.isStruck = style.attributes.contains(.struck)
        if style.attributes.contains(.flash), !rendition.isReversed {
            let flash = self.flashes[Int(style.ink.rawValue)]
            if flash.isEmpty || flash == "7" {
                rendition.isReversed = true
            } else {
                rendition.ground = flash
                rendition.ink = self.flashInks[Int(style.ink.rawValue)]
            }
        }
        return rendition
    }

    /// The attributes and colours of a cell, as sent to the terminal.
    private struct Rendition: Equatable {
        var isBold = false
        var isDim = false
        var isReversed = false
        var isStruck = false
        /// The parameters for the colours of the text and behind it; empty for the terminal's default.
        var ink: String
        var ground = ""

        /// The parameters from any other style.
        var codes: String {
            var codes = "0"
            if self.isBold { codes += ";1" }
            if self.isDim { codes += ";2" }
            if self.isReversed { codes += ";7" }
            if self.isStruck { codes += ";9" }
            if !self.ink.isEmpty { codes += ";\(self.ink)" }
            if !self.ground.isEmpty { codes += ";\(self.ground)" }
            return codes
        }

        /// The parameters from a known style: only the differences.
        func codes(behind old: Rendition) -> String {
            var codes: [String] = []
            // One parameter ends both bold and dim.
            let endsWeight = old.isBold && !self.isBold || old.isDim && !self.isDim
            if endsWeight { codes.append("22") }
            if self.isBold, endsWeight || !old.isBold { codes.append("1") }
            if self.isDim, endsWeight || !old.isDim { codes.append("2") }
            if self.isReversed != old.isReversed { codes.append(self.isReversed ? "7" : "27") }
            if self.isStruck != old.isStruck { codes.append(self.isStruck ? "9" : "29") }
            if self.ink != old.ink { codes.append(self.ink.isEmpty ? "39" : self.ink) }
            if self.ground != old.ground { codes.append(self.ground.isEmpty ? "49" : self.ground) }
            return codes.joined(separator: ";")
        }
    }

    /// One colour, as an index of the 256 and as RGB.
    private struct Shade {
        var number: Int
        var red: Int
        var green: Int
        var blue: Int

        init(_ number: Int, _ rgb: Int) {
            self.number = number
            (self.red, self.green, self.blue) = (rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255)
        }

        var hexadecimal: String {
            let digits = String(self.red << 16 | self.green << 8 | self.blue, radix: 16, uppercase: true)
            return "#" + String(repeating: "0", count: 6 - digits.count) + digits
        }

        func code(foreground: Bool, isFull: Bool) -> String {
            let plane = foreground ? 38 : 48
            return isFull ? "\(plane);2;\(self.red);\(self.green);\(self.blue)" : "\(plane);5;\(self.number)"
        }
    }

    /// The colours for a light or a dark background. Each has a contrast of 4.5 to 1 or more on white or black (WCAG
    /// 2.2, 1.4.3), flashing prices included; the faint one, for rules and axes, has 3 to 1 (1.4.11). A flash has 1.3
    /// to 1 or more against the rest of the screen.
    private struct Shades {
        var isLight: Bool
        var isBlue: Bool

        func ink(_ ink: CellStyle.Ink) -> Shade? {
            switch ink {
            case .plain: nil
            case .rising: self.up
            case .falling: self.down
            case .good: self.up
            case .warning: self.isLight ? Shade(94, 0x8A5A00) : Shade(221, 0xF0C65A)
            case .alarm: self.isBlue ? self.down : (self.isLight ? Shade(124, 0xB3261E) : Shade(203, 0xFF6B66))
            case .accent: self.isLight ? Shade(24, 0x1F5F8B) : Shade(110, 0x8AB8D8)
            case .faint: self.isLight ? Shade(246, 0x949494) : Shade(242, 0x6C6C6C)
            case .violet: self.isLight ? Shade(55, 0x5F00AF) : Shade(141, 0xAF87FF)
            case .magenta: self.isLight ? Shade(127, 0xAF00AF) : Shade(213, 0xFF87FF)
            case .grey: self.isLight ? Shade(242, 0x6C6C6C) : Shade(246, 0x949494)
            }
        }

        /// On white, a visible tint needs darker text.
        func flashInk(_ ink: CellStyle.Ink) -> Shade? {
            guard self.isLight else { return self.ink(ink) }
            return switch ink {
            case .rising, .good: self.isBlue ? Shade(18, 0x0F3F7D) : Shade(22, 0x0B5A22)
            case .falling, .alarm, .warning: self.isBlue ? Shade(58, 0x6B3300) : Shade(88, 0x8E1616)
            case .plain, .accent, .faint, .violet, .magenta, .grey: self.ink(ink)
            }
        }

        func flash(_ ink: CellStyle.Ink) -> Shade {
            switch ink {
            case .rising, .good:
                self.isBlue
                    ? (self.isLight ? Shade(153, 0xB5D3F3) : Shade(18, 0x12335A))
                    : (self.isLight ? Shade(151, 0xB7E4C0) : Shade(22, 0x123D22))
            case .falling, .alarm, .warning:
                self.isBlue
                    ? (self.isLight ? Shade(223, 0xF7D3A1) : Shade(52, 0x54330A))
                    : (self.isLight ? Shade(217, 0xF6C2C0) : Shade(52, 0x521B1B))
            case .plain, .accent, .faint, .violet, .magenta, .grey:
                self.isLight ? Shade(254, 0xE4E4E4) : Shade(236, 0x303030)
            }
        }

        /// The two tones of the area below a line, from the near one to the far one. They carry no text.
        func tones(_ ink: CellStyle.Ink) -> (Shade, Shade) {
            switch (ink, self.isBlue, self.isLight) {
            case (.rising, true, true), (.good, true, true): (Shade(110, 0x8FB4E0), Shade(153, 0xCFE0F5))
            case (.rising, true, false), (.good, true, false): (Shade(25, 0x2F66A8), Shade(17, 0x183559))
            case (.rising, false, true), (.good, false, true): (Shade(114, 0x8FCB9F), Shade(194, 0xCFEAD5))
            case (.rising, false, false), (.good, false, false): (Shade(28, 0x3B7A4B), Shade(22, 0x1E4028))
            case (.falling, true, true), (.alarm, true, true), (.warning, true, true):
                (Shade(179, 0xE0B27A), Shade(223, 0xF5E0C4))
            case (.falling, true, false), (.alarm, true, false), (.warning, true, false):
                (Shade(130, 0x9A6230), Shade(58, 0x523318))
            case (.falling, false, true), (.alarm, false, true), (.warning, false, true):
                (Shade(174, 0xE59A9A), Shade(224, 0xF5D3D3))
            case (.falling, false, false), (.alarm, false, false), (.warning, false, false):
                (Shade(88, 0x8A4040), Shade(52, 0x4A2020))
            case (.accent, _, true): (Shade(110, 0x8FB5CE), Shade(153, 0xD0E1EC))
            case (.accent, _, false): (Shade(24, 0x456B85), Shade(236, 0x24394A))
            case (_, _, true): (Shade(250, 0xBCBCBC), Shade(254, 0xE4E4E4))
            case (_, _, false): (Shade(239, 0x4E4E4E), Shade(236, 0x303030))
            }
        }

        private var up: Shade {
            self.isBlue
                ? (self.isLight ? Shade(25, 0x1A5FB4) : Shade(75, 0x6CB2FF))
                : (self.isLight ? Shade(28, 0x1A7F37) : Shade(114, 0x7BD88F))
        }

        private var down: Shade {
            self.isBlue
                ? (self.isLight ? Shade(130, 0xA85100) : Shade(215, 0xFFAF5F))
                : (self.isLight ? Shade(160, 0xC62828) : Shade(210, 0xFF8080))
        }
    }
}
