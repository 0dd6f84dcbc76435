/// The negotiation of compressed messages from one side's policy and the peer's parameters (RFC 7692, 5 and 7.1).
enum DeflateNegotiation {
    // MARK: Server

    /// Returns the agreement on the first acceptable offer and the answer with its parameters; `nil` declines all
    /// offers.
    static func accept(
        _ offers: [WebSocketExtension],
        _ policy: DeflatePolicy
    ) -> (agreement: DeflateAgreement, answer: DeflateParameters)? {
        // The client lists its offers in the order of its preference.
        for offer in offers.compactMap(DeflateParameters.init) {
            if let accepted = Self.accept(offer, policy) { return accepted }
        }
        return nil
    }

    private static func accept(
        _ offer: DeflateParameters,
        _ policy: DeflatePolicy
    ) -> (agreement: DeflateAgreement, answer: DeflateParameters)? {
        var answer = DeflateParameters()
        var agreement = DeflateAgreement(fromServer: policy.outgoing, fromClient: policy.incoming)

        let serverBits = min(offer.serverWindowBits ?? 15, policy.outgoing.windowBits)
        agreement.fromServer.windowBits = serverBits
        guard agreement.fromServer.isPossible else { return nil }
        if offer.serverWindowBits != nil || serverBits < 15 { answer.serverWindowBits = serverBits }

        switch offer.clientWindow {
        case .absent:
            // The client does not know the parameter, so the answer must not contain it (7.1.2.2).
            agreement.fromClient.windowBits = 15
        case .any:
            if policy.incoming.windowBits < 15 { answer.clientWindow = .bits(policy.incoming.windowBits) }
        case .bits(let bits):
            agreement.fromClient.windowBits = min(bits, policy.incoming.windowBits)
            answer.clientWindow = .bits(agreement.fromClient.windowBits)
        }

        // An answer may bind either side without a request in the offer (7.1.1).
        agreement.fromServer.keepsContext = policy.outgoing.keepsContext && !offer.serverForgets
        agreement.fromClient.keepsContext = policy.incoming.keepsContext && !offer.clientForgets
        answer.serverForgets = !agreement.fromServer.keepsContext
        answer.clientForgets = !agreement.fromClient.keepsContext
        return (agreement, answer)
    }

    // MARK: Client

    /// Returns the parameters to offer.
    static func offer(_ policy: DeflatePolicy) -> DeflateParameters {
        var offer = DeflateParameters()
        offer.serverForgets = !policy.incoming.keepsContext
        offer.clientForgets = !policy.outgoing.keepsContext
        if policy.incoming.windowBits < 15 { offer.serverWindowBits = policy.incoming.windowBits }
        offer.clientWindow = policy.outgoing.windowBits < 15 ? .bits(policy.outgoing.windowBits) : .any
        return offer
    }

    /// Returns the agreement on a server's answer to the policy's offer. `nil` for an answer that does not fit the
    /// offer; then the connection must fail (RFC 7692, 5.1).
    static func take(_ answer: WebSocketExtension, to policy: DeflatePolicy) -> DeflateAgreement? {
        guard let answer = DeflateParameters(answer) else { return nil }
        var agreement = DeflateAgreement(fromServer: policy.incoming, fromClient: policy.outgoing)

        let serverBits = answer.serverWindowBits ?? 15
        guard serverBits <= policy.incoming.windowBits else { return nil }
        agreement.fromServer.windowBits = serverBits
        switch answer.clientWindow {
        case .absent: break
        case .any: return nil
        // A window larger than the offered one does not bind the client (7.1.2.2).
        case .bits(let bits): agreement.fromClient.windowBits = min(bits, policy.outgoing.windowBits)
        }
        guard answer.serverForgets || policy.incoming.keepsContext else { return nil }
        agreement.fromServer.keepsContext = !answer.serverForgets
        agreement.fromClient.keepsContext = policy.outgoing.keepsContext && !answer.clientForgets
        return agreement
    }
}
