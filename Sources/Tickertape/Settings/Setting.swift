import Configuration
import TLS

/// The declaration of one setting, without its default, which ``Settings`` holds.
package struct Setting: Sendable {
    /// The path in the config file, joined by dots.
    package let key: String
    /// The name of the environment variable.
    package let environment: String
    /// The long names of its flag, without dashes. A setting without a flag is set by `--set KEY=VALUE`.
    package let flags: [String]
    /// One sentence that explains the setting; also the help of its flag.
    package let help: String
    package let isList: Bool
    /// Whether the value must not be shown. Such a value must not be an argument either, since every user of a machine
    /// can see arguments.
    package let isSecret: Bool
    /// Whether a reload applies a new value while the program runs. Other settings need a restart.
    package let isReloadable: Bool
    /// Parses the value's texts (exactly one, unless it is a list) into the settings.
    let read: @Sendable (inout Settings, [String]) throws(ParseError) -> Void
    /// Formats the value in the syntax that `read` accepts.
    let write: @Sendable (Settings) -> String
    /// Returns whether two programs' settings have the same value.
    let isSame: @Sendable (Settings, Settings) -> Bool
    /// Copies the value of other settings, and what was read from the file that it names.
    let copy: @Sendable (inout Settings, Settings) -> Void

    /// Declares a setting with one value.
    ///
    /// - Parameter contents: the secret that is read from the file that the value names.
    init<Value: Sendable & Equatable>(
        _ key: String,
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ syntax: Syntax<Value>,
        contents: (any WritableKeyPath<Settings, Secret?> & Sendable)? = nil,
        environment: String? = nil,
        flags: [String] = [],
        isSecret: Bool = false,
        isReloadable: Bool = false,
        help: String
    ) {
        self.key = key
        self.environment = environment ?? Self.environmentName(key)
        self.flags = flags
        self.help = help
        self.isList = false
        self.isSecret = isSecret
        self.isReloadable = isReloadable
        self.isSame = { one, other in
            one[keyPath: path] == other[keyPath: path]
                && contents.map { one[keyPath: $0] == other[keyPath: $0] } ?? true
        }
        self.copy = { settings, other in
            settings[keyPath: path] = other[keyPath: path]
            if let contents { settings[keyPath: contents] = other[keyPath: contents] }
        }
        self.read = { settings, texts throws(ParseError) in
            guard texts.count == 1 else { throw ParseError("is a list; give one value") }
            settings[keyPath: path] = try syntax.read(texts[0].trimmingBlanks())
        }
        self.write = { syntax.write($0[keyPath: path]) }
    }

    /// Declares a setting with a list of values. Duplicates are removed unless `keepsRepeats` is set.
    init<Value: Sendable & Equatable>(
        _ key: String,
        list path: any WritableKeyPath<Settings, [Value]> & Sendable,
        of syntax: Syntax<Value>,
        count: ClosedRange<Int>,
        keepsRepeats: Bool = false,
        flags: [String] = [],
        isReloadable: Bool = false,
        help: String
    ) {
        self.key = key
        self.environment = Self.environmentName(key)
        self.flags = flags
        self.help = help
        self.isList = true
        self.isSecret = false
        self.isReloadable = isReloadable
        self.isSame = { $0[keyPath: path] == $1[keyPath: path] }
        self.copy = { $0[keyPath: path] = $1[keyPath: path] }
        self.read = { settings, texts throws(ParseError) in
            var values: [Value] = []
            for text in texts {
                let value: Value
                do throws(ParseError) {
                    value = try syntax.read(syntax.takesBlanks ? text : text.trimmingBlanks())
                } catch {
                    throw ParseError(
                        error.echoes ? "holds \"\(text)\", which \(error.reason)" : "has a value that \(error.reason)",
                        echoes: false
                    )
                }
                if keepsRepeats || !values.contains(value) { values.append(value) }
            }
            guard count.contains(values.count) else {
                throw ParseError(
                    "has \(values.count) values; it may have \(count.lowerBound) to \(count.upperBound)",
                    echoes: false
                )
            }
            settings[keyPath: path] = values
        }
        self.write = { settings in
            "[" + settings[keyPath: path].map(syntax.write).joined(separator: ", ") + "]"
        }
    }

    /// Returns the setting with this key.
    package static func named(_ key: String) -> Setting? { Self.byKey[key] }

    private static let byKey = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.key, $0) })

    private static func environmentName(_ key: String) -> String {
        "TICKERTAPE_" + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }

    /// The key as a type of swift-configuration.
    var configKey: AbsoluteConfigKey { AbsoluteConfigKey(ConfigKey(self.key)) }
}

extension StringProtocol {
    /// Returns the text without leading and trailing blanks, tabs and line ends.
    func trimmingBlanks() -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        guard let first = self.firstIndex(where: { !isBlank($0) }), let last = self.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[first...last])
    }
}
