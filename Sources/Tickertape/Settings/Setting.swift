import Configuration

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
    /// Parses the value's texts (exactly one, unless it is a list) into the settings.
    let read: @Sendable (inout Settings, [String]) throws(ParseError) -> Void
    /// Formats the value in the syntax that `read` accepts.
    let write: @Sendable (Settings) -> String

    /// Declares a setting with one value.
    init<Value: Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ syntax: Syntax<Value>,
        environment: String? = nil,
        flags: [String] = [],
        isSecret: Bool = false,
        help: String
    ) {
        self.key = key
        self.environment = environment ?? Self.environmentName(key)
        self.flags = flags
        self.help = help
        self.isList = false
        self.isSecret = isSecret
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
        help: String
    ) {
        self.key = key
        self.environment = Self.environmentName(key)
        self.flags = flags
        self.help = help
        self.isList = true
        self.isSecret = false
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
