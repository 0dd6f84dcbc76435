import TLS
import HTTP
import NIOCore
import NIOHTTP1

/// The check of the token that clients must show, if one is set. One gate serves all connections of a relay, on its
/// loop.
package final class TokenGate {
    /// The fewest characters of a token; shorter ones can be guessed.
    package static let minimumCharacters = 16
    /// Shows only that the program runs, to supervisors that have no token.
    private static let openPath = "/livez"

    private let token: Secret
    private var guesses = GuessLimit()

    init(_ token: Secret) { self.token = token }

    /// Returns why the request is refused, or `nil`.
    ///
    /// A preflight request (`OPTIONS`) carries no token; its answer contains only the allowed methods and headers.
    func refusal(of head: HTTPRequestHead, from address: PeerAddress, now: NIODeadline) -> HTTPRefusal? {
        if head.method == .OPTIONS || head.uri.prefix(while: { $0 != "?" }) == Self.openPath { return nil }
        return self.refusal(of: TokenPlaces.tokens(in: head), from: address, now: now)
    }

    /// Returns why a client is refused that shows these tokens, or `nil`.
    func refusal(of shown: [String], from address: PeerAddress, now: NIODeadline) -> HTTPRefusal? {
        let wait = self.guesses.wait(of: address, now: now)
        // All programs of this machine share one address, and one of them must not lock out the others.
        if let wait, address != .here { return .tooManyGuesses(wait: wait) }
        guard !shown.isEmpty else { return .tokenMissing }
        // Each token is compared, even after a match, so that the time does not show which one is right.
        var isRight = false
        for token in shown where self.token.matches(token) { isRight = true }
        if isRight { return nil }
        if let wait { return .tooManyGuesses(wait: wait) }
        for _ in shown { self.guesses.wrong(from: address, now: now) }
        return .tokenWrong
    }
}
