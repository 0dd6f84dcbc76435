import Market

/// The target of a request to a venue's REST service, a path and a query (RFC 9112, 3.2.1), taken apart.
///
/// Hostile targets are read, too: a part whose percent-encoding is broken stands for nothing.
package struct VenueTarget: Sendable {
    /// The longest target that is read, in bytes; the venues' have fewer than 200.
    package static let maximumLength = 2_048

    /// The decoded segments of the path, without the first slash.
    package let path: [String]
    private let parameters: [(name: String, value: String)]

    /// - Returns: `nil` for a target that does not begin with a slash, is too long, or has a path that cannot be decoded.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.hasPrefix("/") else { return nil }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for segment in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = PercentText.decoded(segment) else { return nil }
            path.append(segment)
        }
        self.path = path
        self.parameters = (parts.count > 1 ? parts[1] : "").split(separator: "&").compactMap(PercentText.pair)
    }

    /// Returns the decoded value of a parameter, the first of several; `nil` without it.
    package subscript(_ name: String) -> String? { self.parameters.first { $0.name == name }?.value }
}
