package import NIOCore

/// One headline as the service publishes it.
package struct Headline: Sendable, Equatable {
    /// The service's number of the headline; `nil` if it gives none.
    package var id: Int64?
    /// Wall clock, ns since 1970.
    package var time: Int64
    package var publisher: String
    package var text: String
    package var summary: String
    /// The address of the article; empty if the service gives none with `http` or `https`.
    package var url: String

    package init(
        id: Int64? = nil,
        time: Int64,
        publisher: String,
        text: String,
        summary: String = "",
        url: String
    ) {
        self.id = id
        self.time = time
        self.publisher = publisher
        self.text = text
        self.summary = summary
        self.url = url
    }

    /// The longest publisher, and the longest headline and summary, in Unicode scalars. Longer ones are cut.
    private static let longestPublisher = 64
    private static let longestText = 512
    /// The longest address, in bytes. Longer ones are left out, since a part of an address leads elsewhere.
    private static let longestURL = 2_048
    private static let maximumListed = 10_000
    /// The most headlines that are kept. The service sends about 100.
    package static let maximumKept = 500

    /// Reads the answer of `/news`, the newest first, ``maximumKept`` at most; `nil` if it is not a list of headlines.
    package static func list(_ body: ByteBuffer) -> [Headline]? {
        let list = JSONObjects.read(body, limit: Self.maximumListed) { object -> Headline? in
            // Seconds from 1970 to 2286, so that nanoseconds do not overflow.
            guard let text = object.text("headline"), !text.isEmpty, let seconds = object.number("datetime"),
                (0..<9_200_000_000).contains(seconds)
            else { return nil }
            let url = object.text("url") ?? ""
            let isLink = url.hasPrefix("https://") || url.hasPrefix("http://")
            return Headline(
                id: object.number("id"),
                time: seconds * 1_000_000_000,
                publisher: Self.beginning(of: object.text("source"), Self.longestPublisher),
                text: Self.beginning(of: text, Self.longestText),
                summary: Self.beginning(of: object.text("summary"), Self.longestText),
                url: isLink && url.utf8.count <= Self.longestURL ? url : ""
            )
        }
        return list.map { Array($0.sorted { $0.time > $1.time }.prefix(Self.maximumKept)) }
    }

    private static func beginning(of text: String?, _ scalars: Int) -> String {
        String(String.UnicodeScalarView((text ?? "").unicodeScalars.prefix(scalars)))
    }
}
