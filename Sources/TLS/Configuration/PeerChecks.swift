internal import COpenSSL

/// What a client's context checks of a server beside its name; the same for all its connections.
struct PeerChecks {
    /// Whether the chain is verified; without that, lists and answers are not looked at either.
    var verifiesChain: Bool
    /// The keys of which the chain must have one; empty allows every key.
    var pins: Set<PublicKeyPin>
    var stapling: TLSClientConfiguration.Stapling
    /// When the first revocation list is out of date; `nil` where there are none.
    var listsValidUntil: Int64?

    /// A server's, which asks clients for no certificate.
    static let none = PeerChecks(verifiesChain: false, pins: [], stapling: .ignored, listsValidUntil: nil)

    /// Reads what the configuration names, and makes the context obey it.
    init(_ client: TLSClientConfiguration, into context: OpaquePointer) throws(TLSError) {
        self.init(
            verifiesChain: client.verification == .full,
            pins: Set(client.pins),
            stapling: client.verification == .full ? client.stapling : .ignored,
            listsValidUntil: nil
        )
        if self.verifiesChain {
            try client.trust.apply(to: context)
            if let file = client.revocationListFile {
                self.listsValidUntil = try RevocationLists(file: file, into: context).validUntil
            }
        }
        guard self.verifiesChain || !self.pins.isEmpty else {
            SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
            return
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, verifyPeer, nil)
        if self.stapling != .ignored { _ = twin_SSL_CTX_set_tlsext_status_cb(context, verifyStapledAnswer) }
    }

    private init(
        verifiesChain: Bool,
        pins: Set<PublicKeyPin>,
        stapling: TLSClientConfiguration.Stapling,
        listsValidUntil: Int64?
    ) {
        self.verifiesChain = verifiesChain
        self.pins = pins
        self.stapling = stapling
        self.listsValidUntil = listsValidUntil
    }
}
