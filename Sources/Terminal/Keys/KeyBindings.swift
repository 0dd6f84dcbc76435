import Market

/// Which keys do what.
///
/// Ctrl-C, Ctrl-Z and Ctrl-\ are no part of it: they always do what they do everywhere.
package struct KeyBindings: Sendable, Equatable {
    /// The most keys of one action.
    package static let maximumKeys = 8

    /// Two actions that want the same key.
    package struct Conflict: Sendable, Equatable {
        package var key: TerminalKey
        package var actions: [KeyAction]
    }

    private var keys: [KeyAction: [TerminalKey]]

    package init() {
        self.keys = Dictionary(uniqueKeysWithValues: KeyAction.allCases.map { ($0, $0.keys) })
    }

    /// The keys of an action; none where it cannot be had by key.
    package subscript(action: KeyAction) -> [TerminalKey] {
        get { self.keys[action] ?? [] }
        set { self.keys[action] = newValue }
    }

    /// What a key does, if anything.
    package func action(of key: TerminalKey) -> KeyAction? {
        KeyAction.allCases.first { self[$0].contains(key) }
    }

    /// A key that has two meanings, if there is one.
    package var conflict: Conflict? {
        var owners: [TerminalKey: KeyAction] = [:]
        for action in KeyAction.allCases {
            for key in self[action] {
                if let other = owners[key], other != action { return Conflict(key: key, actions: [other, action]) }
                owners[key] = action
            }
        }
        return nil
    }

    /// Each key with what it does, those for replays only where it is one.
    func help(isReplay: Bool, glyphs: ScreenGlyphs = .unicode) -> [KeyHelp] {
        KeyAction.allCases.compactMap { action in
            guard isReplay || !action.isForReplays else { return nil }
            var labels = self[action].map { $0.label(glyphs: glyphs) }
            if action == .quit { labels.append(TerminalKey.control("c").label(glyphs: glyphs)) }
            guard !labels.isEmpty else { return nil }
            return KeyHelp(keys: labels.joined(separator: " "), meaning: action.meaning)
        }
    }
}
