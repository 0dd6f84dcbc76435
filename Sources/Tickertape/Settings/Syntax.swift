import HTTP
import Market
import TLS
import Terminal

/// The reason why a text is not a value of its setting, as the end of a sentence that begins with the text.
package struct ParseError: Error, Equatable {
    package var reason: String
    /// Whether the message may repeat the text; it must not repeat a secret.
    package var echoes: Bool

    package init(_ reason: String, echoes: Bool = true) {
        self.reason = reason
        self.echoes = echoes
    }
}

/// The textual form of a setting's value, identical on the command line, in the environment and in the config file.
package struct Syntax<Value: Sendable>: Sendable {
    /// Whether `read` gets the text with surrounding blanks; otherwise they are trimmed.
    package var takesBlanks: Bool
    /// Parses a value.
    package var read: @Sendable (String) throws(ParseError) -> Value
    /// Formats a value so that `read` accepts it.
    package var write: @Sendable (Value) -> String

    package init(
        takesBlanks: Bool = false,
        read: @escaping @Sendable (String) throws(ParseError) -> Value,
        write: @escaping @Sendable (Value) -> String
    ) {
        self.takesBlanks = takesBlanks
        self.read = read
        self.write = write
    }

    /// Returns this syntax with a word for `nil`. An empty text and YAML's words for null mean the same.
    package func optional(_ word: String) -> Syntax<Value?> {
        Syntax<Value?>(
            read: { text throws(ParseError) in
                ["", "~", "null", word].contains(text.lowercased()) ? nil : try self.read(text)
            },
            write: { $0.map(self.write) ?? word }
        )
    }

    /// Returns this syntax for an optional property that every setting fills; it is `nil` elsewhere, as in a replay.
    package var present: Syntax<Value?> {
        Syntax<Value?>(
            read: { text throws(ParseError) in try self.read(text) },
            write: { $0.map(self.write) ?? "none" }
        )
    }

    /// Returns this syntax for another type.
    ///
    /// - Parameters:
    ///   - value: converts a parsed value to the other type.
    ///   - origin: converts a value of the other type back.
    package func mapped<Other>(
        _ value: @escaping @Sendable (Value) -> Other,
        _ origin: @escaping @Sendable (Other) -> Value
    ) -> Syntax<Other> {
        Syntax<Other>(
            read: { text throws(ParseError) in value(try self.read(text)) },
            write: { self.write(origin($0)) }
        )
    }

    /// Returns this syntax, limited to values within `range`.
    package func within(_ range: ClosedRange<Value>) -> Syntax<Value> where Value: Comparable {
        Syntax(
            read: { text throws(ParseError) in
                let value = try self.read(text)
                guard range.contains(value) else {
                    throw ParseError(
                        "is out of range; it may be \(self.write(range.lowerBound)) to \(self.write(range.upperBound))"
                    )
                }
                return value
            },
            write: self.write
        )
    }
}

extension Syntax<Bool> {
    package static var flag: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                switch text.lowercased() {
                case "true", "yes", "on", "1": true
                case "false", "no", "off", "0": false
                default: throw ParseError("is neither true nor false")
                }
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<Int> {
    package static var count: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let value = Int(digits: text) else {
                    throw ParseError("is not a whole number; write it like 1000")
                }
                return value
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<String> {
    /// The path of a file or a folder.
    package static var path: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard !text.isEmpty, !text.utf8.contains(0) else { throw ParseError("is not a path") }
                return text
            },
            write: { $0 }
        )
    }

    /// A venue's symbol; ``SymbolName`` has the rules.
    package static var symbol: Syntax {
        Syntax(
            takesBlanks: true,
            read: { text throws(ParseError) in
                if let fault = SymbolName.fault(in: text) {
                    throw ParseError("is not a symbol, because it \(fault.words); write it like BINANCE:BTCUSDT")
                }
                // A key in the list of symbols would be sent upstream, shown, recorded and sent to every client.
                guard !KeyLikeness.isKey(text) else {
                    throw ParseError(
                        "looks like a key and not like a symbol; set FINNHUB_TOKEN or token-file",
                        echoes: false
                    )
                }
                return text
            },
            write: { $0 }
        )
    }

    /// An origin of a web page as browsers send it (RFC 6454, 6.2).
    package static var origin: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                let usage = ParseError("is not an origin; write it like https://example.com or http://localhost:3000")
                let text = text.lowercased()
                guard let scheme = ["http://", "https://"].first(where: text.hasPrefix),
                    let (_, port) = Endpoint.split(text.dropFirst(scheme.count)),
                    port.map({ Endpoint.port($0) != nil }) ?? true
                else { throw usage }
                return text
            },
            write: { $0 }
        )
    }
}

extension Syntax<String> {
    /// A host name or an IP address, without a port.
    package static var hostName: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let (host, port) = Endpoint.split(text), port == nil else {
                    throw ParseError(
                        "is not a host; write it like ticker.lan, 192.0.2.7 or [2001:db8::7], without a port"
                    )
                }
                return host.lowercased()
            },
            write: { $0.contains(":") ? "[\($0)]" : $0 }
        )
    }
}

extension Syntax<Secret> {
    static var secret: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let secret = Secret(token: text) else {
                    throw ParseError(
                        "is not a key: it must be 1 to 256 letters, digits and marks without a space",
                        echoes: false
                    )
                }
                return secret
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<TLSClientConfiguration.Trust> {
    /// The file of trusted authorities, or `none` for the system's.
    static var trust: Syntax {
        Syntax<String>.path.optional("none").mapped(
            { $0.map { .file($0) } ?? .system },
            { if case .file(let path) = $0 { path } else { nil } }
        )
    }
}

extension Syntax<PublicKeyPin> {
    static var publicKeyPin: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let pin = PublicKeyPin(text) else {
                    throw ParseError("is not a public key's digest; write it like sha256/ and 44 characters of Base64")
                }
                return pin
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<TLSCipherList> {
    static var cipherList: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let list = TLSCipherList(text) else {
                    throw ParseError(
                        "is not a list of TLS 1.2 ciphers as OpenSSL writes them; "
                            + "`openssl ciphers -s -v -tls1_2 ALL` names them, such as \(TLSCipherList.standard)"
                    )
                }
                return list
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<Endpoint> {
    /// An address to listen on.
    static var endpoint: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let endpoint = Endpoint(text) else {
                    throw ParseError("is not HOST:PORT; write it like 127.0.0.1:8080 or [::1]:8080")
                }
                return endpoint
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the raw values, in any case.
    package static var word: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let value = Value(rawValue: text.lowercased()) else {
                    throw ParseError("is not one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
                }
                return value
            },
            write: { $0.rawValue }
        )
    }

    /// One of the raw values, or a word for `nil`.
    package static func word(or open: String) -> Syntax<Value?> {
        Syntax<Value?>(
            read: { text throws(ParseError) in
                let text = text.lowercased()
                if text == open { return nil }
                guard let value = Value(rawValue: text) else {
                    throw ParseError(
                        "is not one of \(([open] + Value.allCases.map(\.rawValue)).joined(separator: ", "))"
                    )
                }
                return value
            },
            write: { $0?.rawValue ?? open }
        )
    }
}

extension Syntax<LineField> {
    /// A field of a line, by name.
    static var lineField: Syntax { .listed("field") }
}

extension Syntax<DisplayColumn> {
    /// A column of the screen's table, by name.
    static var displayColumn: Syntax { .listed("column") }
}

extension Syntax where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the raw values, in any case; a message about another text lists them.
    fileprivate static func listed(_ kind: String) -> Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let value = Value(rawValue: text.lowercased()) else {
                    let names = Value.allCases.map(\.rawValue)
                    let hint = text.lowercased().nearest(in: names).map { "did you mean \($0)? " } ?? ""
                    throw ParseError("is not a \(kind); \(hint)The \(kind)s are: \(names.joined(separator: ", "))")
                }
                return value
            },
            write: { $0.rawValue }
        )
    }
}
