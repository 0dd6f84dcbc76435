import TLS
import HTTP
import NIOCore
import NIOHTTP1

/// The check of the token that clients must show, where one is set; for all connections of a relay, on its loop.
package final class TokenGate {
    /// The fewest characters that are taken for a token: shorter ones can be guessed.
    package static let minimumCharacters = 16
    /// Says only that the program runs, and is asked by supervisors that have no token.
    private static let openPath = "/livez"

    private let token: Secret
    private var guesses = GuessLimit()

    init(_ token: Secret) { self.token = token }

    /// Returns why the request is refused, or `nil`.
    ///
    /// A page's question what it may ask (`OPTIONS`) carries no token and is told nothing else.
    func refusal(of head: HTTPRequestHead, from address: PeerAddress, now: NIODeadline) -> HTTPRefusal? {
        if head.method == .OPTIONS || head.uri.prefix(while: { $0 != "?" }) == Self.openPath { return nil }
        let wait = self.guesses.wait(of: address, now: now)
        // All programs of this machine are one address, and one of them must not lock the others out.
        if let wait, address != .here { return .tooManyGuesses(wait: wait) }
        let shown = TokenPlaces.tokens(in: head)
        guard !shown.isEmpty else { return .tokenMissing }
        // Each is looked at, whichever is right.
        var isRight = false
        for token in shown where self.token.matches(token) { isRight = true }
        if isRight { return nil }
        if let wait { return .tooManyGuesses(wait: wait) }
        for _ in shown { self.guesses.wrong(from: address, now: now) }
        return .tokenWrong
    }
}
