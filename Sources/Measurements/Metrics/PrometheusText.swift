package import NIOCore

/// A writer of Prometheus' text exposition format 0.0.4.
package struct PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    private(set) package var buffer = ByteBuffer()

    package init() {}

    /// Begins a family. All its samples must follow before the next family begins.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.buffer.writeString(
            "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        )
    }

    package mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: Double) {
        self.buffer.writeString(name)
        if !labels.isEmpty {
            let pairs = labels.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1, quotes: true))\"" }
            self.buffer.writeString("{\(pairs.joined(separator: ","))}")
        }
        self.buffer.writeString(" \(Self.text(value))\n")
    }

    /// Writes a family with a single sample.
    package mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.family(name, kind, help)
        self.sample(name, [], value)
    }

    /// Returns a text as a valid name of a metric or a label, with `_` in place of any other character.
    static func name(_ text: String) -> String {
        var name = String(
            text.unicodeScalars.map { scalar -> Character in
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
                    ? Character(scalar) : "_"
            }
        )
        if name.isEmpty || name.first?.isNumber == true { name = "_" + name }
        return name
    }

    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let integer = Int64(exactly: value) { return "\(integer)" }
        return "\(value)"
    }

    static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
