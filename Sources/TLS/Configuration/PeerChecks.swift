internal import COpenSSL

/// The checks that a client's context makes of a server besides its name; all its connections share them.
struct PeerChecks {
    /// Whether the chain is verified; without that, revocation lists and OCSP responses are ignored too.
    var verifiesChain: Bool
    /// The accepted public keys, one of which the chain must have; empty accepts every key.
    var pins: Set<PublicKeyPin>
    var stapling: TLSClientConfiguration.Stapling
    /// When the first revocation list expires, in seconds since 1970; `nil` without lists.
    var listsValidUntil: Int64?

    /// The checks of a server, which requests no client certificate.
    static let none = PeerChecks(verifiesChain: false, pins: [], stapling: .ignored, listsValidUntil: nil)

    /// Reads the files that the configuration names, and sets the checks on the context.
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
