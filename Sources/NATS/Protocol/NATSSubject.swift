/// A subject to which a message is published: tokens separated by dots, without wildcards.
///
/// A token has no blank, no control character and no dot, and is not empty (docs.nats.io, Concepts, Subjects).
package struct NATSSubject: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// Takes a subject; `nil` unless it is valid.
    package init?(_ text: String) {
        guard NATSPattern.hasOnlyTokens(text),
            !text.utf8.split(separator: UInt8(ascii: ".")).contains(where: Self.isWild)
        else { return nil }
        self.text = text
    }

    /// Takes a subject that is valid by its construction.
    init(valid text: String) { self.text = text }

    fileprivate static func isWild(_ token: Substring.UTF8View) -> Bool {
        token.elementsEqual("*".utf8) || token.elementsEqual(">".utf8)
    }

    package var description: String { self.text }
}

/// The subjects of a subscription: a subject in which `*` stands for one token, and `>` at the end for one or more.
///
/// Inside a longer token the two characters have no meaning, as in the server.
package struct NATSPattern: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// Takes a pattern; `nil` unless it is valid.
    package init?(_ text: String) {
        guard Self.hasOnlyTokens(text) else { return nil }
        let tokens = text.utf8.split(separator: UInt8(ascii: "."))
        guard !tokens.dropLast().contains(where: { $0.elementsEqual(">".utf8) }) else { return nil }
        self.text = text
    }

    /// Takes a pattern that is valid by its construction.
    init(valid text: String) { self.text = text }

    package init(_ subject: NATSSubject) { self.text = subject.text }

    /// Returns whether a subject is one of these.
    package func matches(_ subject: String) -> Bool {
        var subject = subject.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)[...]
        let pattern = self.text.utf8.split(separator: UInt8(ascii: "."))
        for (index, token) in pattern.enumerated() {
            guard let first = subject.popFirst() else { return false }
            if token.elementsEqual(">".utf8), index == pattern.count - 1 { return true }
            guard token.elementsEqual("*".utf8) || token.elementsEqual(first) else { return false }
        }
        return subject.isEmpty
    }

    fileprivate static func hasOnlyTokens(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
            && !text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).contains(
                where: \.isEmpty
            )
    }

    package var description: String { self.text }
}
