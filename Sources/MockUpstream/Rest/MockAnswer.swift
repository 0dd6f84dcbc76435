package import HTTP

/// An answer of a mock server to a request over HTTP, with what goes wrong on its way.
package struct MockAnswer: Sendable, Equatable {
    package var http: HTTPAnswer
    /// How much later it is sent, ns.
    package var delay: Int64 = 0
    /// Whether the connection ends after half of the body, whose whole length is in the headers.
    package var isCut = false
    /// The faults that it has, in their text form; empty without one.
    package var faults: [String] = []

    package init(_ http: HTTPAnswer) { self.http = http }
}
