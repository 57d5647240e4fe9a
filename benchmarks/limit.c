// limit.c - practical speed limit of a Tien Len ("southern", 4 x 13) simulator on one machine.
// build: clang-16 -O3 -march=native -o limit_cl limit.c -lpthread -lm   (apt-get install clang-16; fastest)
//        gcc -O3 -march=native -w -o limit limit.c -lpthread -lm        (gcc 12: 0.85x / 0.77x of clang on p1 / p2)
// needs BMI2 (pdep).
// usage: limit MODE GAMES SEED THREADS [RNG]
//   MODE: p1 (lowest) | p2 (random) | deal-fy | deal-fix | deal-tab | count | gen | dump-p1 | dump-p2
//   RNG : 0 splitmix-ctr(key=hash(seed,game))  1 squares64(ctr=game<<16|n)  2 philox4x32-10
//         3 xoshiro256++ seeded per game (splitmix)  4 xoshiro256++ stateful  5 wyrand keyed per game
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <math.h>
#include <pthread.h>
#include <immintrin.h>
typedef uint64_t u64; typedef uint32_t u32; typedef unsigned __int128 u128;
#define INL static inline __attribute__((always_inline))
#define M1   0x1111111111111ULL
#define FULL ((1ULL<<52)-1)
#define NO2  ((1ULL<<48)-1)
#define LIKELY(x) __builtin_expect(!!(x),1)
#define UNLIKELY(x) __builtin_expect(!!(x),0)
INL int pop(u64 x){return __builtin_popcountll(x);}
INL int tz(u64 x){return (int)_tzcnt_u64(x);}
INL int msb(u64 x){return 63-(int)_lzcnt_u64(x);}
INL u64 lsb(u64 x){return x&-x;}
INL u64 kth(u64 m,u64 k){return _pdep_u64(1ULL<<k,m);}
INL u64 s1(u64 h){return (h&0x7777777777777ULL)<<1;}
INL u64 s2(u64 h){return (h&0x3333333333333ULL)<<2;}
INL u64 s3(u64 h){return (h&0x1111111111111ULL)<<3;}
INL u64 sm(u64 h){return s1(h)|s2(h)|s3(h);}
INL u64 pres(u64 h){return (h|h>>1|h>>2|h>>3)&M1;}
INL u64 cnt4(u64 h){u64 t=h-((h>>1)&0x5555555555555555ULL);return (t&0x3333333333333333ULL)+((t>>2)&0x3333333333333333ULL);}
/* ---------------- RNG ---------------- */
typedef struct {u64 a,b,c,d; u64 key,base; u64 out; } rng_t;
#define PHI 0x9E3779B97F4A7C15ULL
INL u64 mix64(u64 z){z=(z^(z>>30))*0xBF58476D1CE4E5B9ULL;z=(z^(z>>27))*0x94D049BB133111EBULL;return z^(z>>31);}
INL u64 rotl(u64 x,int k){return x<<k|x>>(64-k);}
INL void rng_seed(rng_t*r,u64 seed,u64 g,const int kind){
  switch(kind){
  case 0: case 5: r->a=mix64(mix64(seed+PHI)^(g*0xD1342543DE82EF95ULL)); break;
  case 1: r->a=g<<16; break;                 // key prepared once in r->key
  case 2: r->a=g; r->b=0; r->c=0; break;
  case 3:{u64 s=mix64(seed+PHI)^(g*0xD1342543DE82EF95ULL); r->a=mix64(s+=PHI);r->b=mix64(s+=PHI);r->c=mix64(s+=PHI);r->d=mix64(s+=PHI);}break;
  case 4: break;
  }
}
INL void rng_init(rng_t*r,u64 seed,u64 stream){
  memset(r,0,sizeof *r); u64 s=seed+stream*0x1234567ULL;
  r->a=mix64(s+=PHI);r->b=mix64(s+=PHI);r->c=mix64(s+=PHI);r->d=mix64(s+=PHI);
  r->key=mix64(seed+PHI)|1; r->base=seed;
}
INL u64 rng_next(rng_t*r,const int kind){
  switch(kind){
  case 0: r->a+=PHI; return mix64(r->a);
  case 1:{u64 x,y,z,t; y=x=(r->a++)*r->key; z=y+r->key;
    x=x*x+y;x=x>>32|x<<32; x=x*x+z;x=x>>32|x<<32; x=x*x+y;x=x>>32|x<<32; t=x=x*x+z;x=x>>32|x<<32; return t^((x*x+y)>>32);}
  case 2:{ // philox4x32-10, key=seed, ctr=(g, n); two words a block
    if(r->c){u64 o=r->out;r->c=0;return o;}
    u32 c0=(u32)r->a,c1=(u32)(r->a>>32),c2=(u32)r->b,c3=0x7EA1E11u,k0=(u32)r->base,k1=(u32)(r->base>>32);
    for(int i=0;i<10;i++){u64 p0=(u64)0xD2511F53u*c0,p1=(u64)0xCD9E8D57u*c2;
      u32 n0=(u32)(p1>>32)^c1^k0,n2=(u32)(p0>>32)^c3^k1; c1=(u32)p1;c3=(u32)p0;c0=n0;c2=n2;k0+=0x9E3779B9u;k1+=0xBB67AE85u;}
    r->b++; r->c=1; r->out=(u64)c2|(u64)c3<<32; return (u64)c0|(u64)c1<<32;}
  case 3: case 4:{u64 res=rotl(r->a+r->d,23)+r->a,t=r->b<<17; r->c^=r->a;r->d^=r->b;r->b^=r->c;r->a^=r->d;r->c^=t;r->d=rotl(r->d,45);return res;}
  case 5:{r->a+=0xA0761D6478BD642FULL; u128 p=(u128)r->a*(r->a^0xE7037ED1A0B428DBULL); return (u64)(p>>64)^(u64)p;}
  } return 0;
}
INL u64 below(u64 r,u64 n){return (u64)(((u128)r*n)>>64);}
/* ---------------- deals ---------------- */
static const uint8_t IOTA[64]={0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63};
INL void deal_fy(u64 H[4],rng_t*r,const int k){
  uint8_t a[64] __attribute__((aligned(64))); memcpy(a,IOTA,64);
  u64 h=0,all=0; int n=52;
  for(int p=0;p<3;p++){h=0; u64 w=0;
    for(int i=0;i<13;i++){ if(i%5==0) w=rng_next(r,k);
      u128 m=(u128)w*n; int j=(int)(m>>64); w=(u64)m; n--; h|=1ULL<<a[j]; a[j]=a[n]; }
    H[p]=h; all|=h; }
  H[3]=FULL&~all;
}
INL void deal_fix(u64 H[4],rng_t*r,const int k){
  u64 m=rng_next(r,k)>>12; int c=pop(m); if(c<26){m^=FULL;c=52-c;}
  while(c>26){u64 w=rng_next(r,k); m^=kth(m,below(w,c)); c--; }
  u64 o=m^FULL;
  u64 w=rng_next(r,k)>>12; u64 a=m&w; int ca=pop(a); if(ca<13){a^=m;ca=26-ca;}
  u64 b=o&w; int cb=pop(b); if(cb<13){b^=o;cb=26-cb;}
  while(ca+cb>26){u64 w=rng_next(r,k); u64 ka=((w>>32)*(u64)ca)>>32, kb=((w&0xFFFFFFFFULL)*(u64)cb)>>32;
    u64 xa=kth(a,ka),xb=kth(b,kb); if(ca>13){a^=xa;ca--;} if(cb>13){b^=xb;cb--;} }
  H[0]=a;H[1]=m^a;H[2]=b;H[3]=o^b;
}
/* table deal: exact up to 2^-40: hypergeometric counts by alias tables, k-subsets of 13 by a 16 KB table */
typedef struct {u64 thr[14]; uint8_t al[14]; uint8_t lo, n; } alias_t;
static uint16_t SUB[8192]; static u32 SOFF[15]; static u32 BIN13[14];
static alias_t AL52[53*1]; /* first block of 13 in 52 -> 26 chosen */
static alias_t ALQ[27]; /* 13 of 39 given need q (<=26) */
static alias_t ALH[27]; /* 13 of 26 given need q */
static double lC(int n,int k){return k<0||k>n?-1e300:lgamma(n+1)-lgamma(k+1)-lgamma(n-k+1);}
static void mk_alias(alias_t*A,int N,int K){ // #chosen in a block of 13 of N when K chosen in all
  int lo=K-(N-13); if(lo<0)lo=0; int hi=K<13?K:13; int n=hi-lo+1; long double p[14]; 
  for(int i=0;i<n;i++) p[i]=expl((long double)(lC(13,lo+i)+lC(N-13,K-lo-i)-lC(N,K)))*n;
  A->lo=lo;A->n=n; int S[14],L[14],ns=0,nl=0; for(int i=0;i<n;i++){A->al[i]=i;A->thr[i]=~0ULL; if(p[i]<1)S[ns++]=i;else L[nl++]=i;}
  while(ns&&nl){int s=S[--ns],l=L[nl-1]; A->thr[s]=(u64)(p[s]*18446744073709551615.0L); A->al[s]=l; p[l]-=1-p[s]; if(p[l]<1){nl--;S[ns++]=l;} }
}
static void init_tab(void){
  int c=0; for(int k=0;k<=13;k++){SOFF[k]=c; for(int m=0;m<8192;m++) if(pop(m)==k) SUB[c++]=m; BIN13[k]=c-SOFF[k];}
  mk_alias(&AL52[0],52,26); for(int q=0;q<=26;q++){ if(q<=26&&q>=0) {mk_alias(&ALQ[q],39,q); mk_alias(&ALH[q],26,q);} }
}
INL int hyp(const alias_t*A,u64 w){u128 m=(u128)w*A->n; int i=(int)(m>>64); return A->lo+((u64)m<A->thr[i]?i:A->al[i]);}
INL u64 sub13(int k,u32 w){return SUB[SOFF[k]+(u32)(((u64)w*BIN13[k])>>32)];}
INL void deal_tab(u64 H[4],rng_t*r,const int k){
  int k0=hyp(&AL52[0],rng_next(r,k)); int q=26-k0; int k1=hyp(&ALQ[q],rng_next(r,k)); q-=k1; int k2=hyp(&ALH[q],rng_next(r,k)); int k3=q-k2;
  u64 w0=rng_next(r,k),w1=rng_next(r,k);
  u64 m=sub13(k0,(u32)w0)|sub13(k1,w0>>32)<<13|sub13(k2,(u32)w1)<<26|sub13(k3,w1>>32)<<39;
  u64 o=m^FULL;
  int ka=hyp(&ALH[13],rng_next(r,k)), kb=hyp(&ALH[13],rng_next(r,k)); u64 w2=rng_next(r,k),w3=rng_next(r,k);
  u64 a=_pdep_u64(sub13(ka,(u32)w2)|sub13(13-ka,w2>>32)<<13,m), b=_pdep_u64(sub13(kb,(u32)w3)|sub13(13-kb,w3>>32)<<13,o);
  H[0]=a;H[1]=m^a;H[2]=b;H[3]=o^b;
}
/* ---------------- combos ---------------- */
enum {K1=1,K2,K3,KST,KDS3,KQ,KDS4};
/* shifts (in bits) to AND presence over k consecutive ranks, k=0..12 */
static const uint8_t SH[13][4]={{0,0,0,0},{0,0,0,0},{4,0,0,0},{4,4,0,0},{4,8,0,0},{4,8,4,0},{4,8,8,0},{4,8,12,0},{4,8,16,0},{4,8,16,4},{4,8,16,8},{4,8,16,12},{4,8,16,16}};
INL u64 runs(u64 P,int k){const uint8_t*s=SH[k];P&=P>>s[0];P&=P>>s[1];P&=P>>s[2];P&=P>>s[3];return P;}
INL u64 above(u64 h,int t){return h&(~1ULL<<t);}            // cards above card t
INL u64 rmask(int r0,int n){return _bzhi_u64(~0ULL,4*n)<<(4*r0);}
/* lowest double straight of np pairs whose top card is in hi (hi subset of h) */
INL u64 low_ds(u64 h,u64 hi,int np){
  h&=NO2;hi&=NO2; u64 h2=h&sm(h); u64 G=pres(h2); u64 R=G&(G>>4); if(np==4)R&=G>>8; 
  R&=pres(h2&hi)>>(4*(np-1)); if(LIKELY(!R))return 0;
  int s=tz(R)>>2,e=s+np-1; u64 lo1=h&~sm(h), lo2=h2&~sm(h2); u64 low2=(lo1|lo2);
  return (low2&rmask(s,np-1))|(lo1&rmask(e,1))|lsb(h2&hi&rmask(e,1));
}
INL u64 low_quad(u64 h,int above_rank){ u64 q=h&NO2; q=q&(q>>1)&(q>>2)&(q>>3)&M1; q&=(~0ULL<<(4*(above_rank+1))); return lsb(q)*15; }
static __attribute__((noinline)) u64 p1_bomb(u64 h,int kind,int top,int*nk){
  u64 m; int t3 = kind==KDS3;
  if(kind==K1||t3){ m=low_ds(h,t3?above(h,top):h,3); if(m){*nk=KDS3;return m;} }
  if(kind<=K2||t3||kind==KQ){ m=low_quad(h,kind==KQ?top>>2:-1); if(m){*nk=KQ;return m;} }
  m=low_ds(h,kind==KDS4?above(h,top):h,4); if(m)*nk=KDS4; return m;
}
INL u64 p1_follow(u64 h,int kind,int len,int top,int*nk){
  u64 hi=above(h,top),m;
  switch(kind){
  case K1: m=lsb(hi); break;
  case K2: {u64 x=lsb(h&sm(h)&hi); int r=tz(x)&60; m=x|lsb(h&(15ULL<<r)); if(!x)m=0;} break;
  case K3: {u64 h2=h&sm(h); u64 x=lsb(h2&sm(h2)&hi); int r=tz(x)&60; u64 g=h&(15ULL<<r); u64 y=lsb(g); m=x|y|lsb(g^y); if(!x)m=0;} break;
  case KST:{u64 hs=h&NO2; u64 R=runs(pres(hs),len-1)&(pres(hi&NO2)>>(4*(len-1))); 
    int s=tz(R)>>2; m=((hs&~sm(hs))&rmask(s,len-1))|lsb(hi&(15ULL<<((4*(s+len-1))&63))); if(!R)m=0; } break;
  default: m=0;
  }
  if(!m && (kind>=KDS3 || (kind<=K2 && top>=48))) return p1_bomb(h,kind,top,nk);
  return m;
}
INL u64 p1_lead(u64 h,int*kind,int*len){
  int b=tz(h)&60; u64 h2=h&sm(h);
  u64 P=pres(h&NO2)>>b, G=pres(h2&NO2)>>b;
  int run=tz(~P&(M1|1ULL<<52))>>2, pr=tz(~G&(M1|1ULL<<52))>>2; u64 g=h&(15ULL<<b); int n=pop(g);
  int ds=pr>=4?8:pr>=3?6:0, st=run>=3?run:0;
  if(UNLIKELY(ds && ds>=st)){ *kind=ds==8?KDS4:KDS3; *len=ds>>1; return ((h&~sm(h))|(h2&~sm(h2)))&(rmask(0,ds>>1)<<b); }
  if(st && st>=n){ *kind=KST; *len=st; return (h&~sm(h))&(_bzhi_u64(~0ULL,4*st)<<b); }
  if(n==4){ if(b<48){*kind=KQ;*len=4;return g;} *kind=K3;*len=3; return g&~(1ULL<<51); }
  *kind=n;*len=n; return g;
}
/* ---------------- P2: uniform over all legal moves, count then select ---------------- */
static const u64 C2T=0x63100; INL u32 c2(u32 n){return (C2T>>(4*n))&15;}
INL u64 kpair(u64 nib,int r,u32 i){ // i-th pair of a nibble at rank r
  u64 a1=nib&s1(nib),a2=nib&s2(nib),a3=nib&s3(nib); u32 n1=pop(a1),n2=pop(a2); (void)r;
  if(i<n1){u64 x=kth(a1,i);return x|x>>1;} i-=n1; if(i<n2){u64 x=kth(a2,i);return x|x>>2;} return a3|a3>>3; }
INL u64 nib(u64 h,int r){return h&(15ULL<<(4*r));}
/* pairs of rank nibble whose top is in hi */
INL u64 kpair_hi(u64 g,u64 hi,u32 i){u64 a1=hi&s1(g),a2=hi&s2(g),a3=hi&s3(g);u32 n1=pop(a1),n2=pop(a2);
  if(i<n1){u64 x=kth(a1,i);return x|x>>1;} i-=n1; if(i<n2){u64 x=kth(a2,i);return x|x>>2;} return a3|a3>>3;}
INL u32 npair_hi(u64 g,u64 hi){return pop(hi&s1(g))+pop(hi&s2(g))+pop(hi&s3(g));}
static __attribute__((noinline)) u32 ds_count(u64 h,u64 hi,int np){
  h&=NO2;hi&=NO2;u64 h2=h&sm(h),G=pres(h2);u64 R=G&(G>>4);if(np==4)R&=G>>8;R&=pres(h2&hi)>>(4*(np-1)); u32 n=0;
  while(R){int s=tz(R)>>2;R&=R-1;u32 p=npair_hi(nib(h,s+np-1),hi&nib(h,s+np-1));for(int i=0;i<np-1;i++)p*=c2(pop(nib(h,s+i)));n+=p;} return n; }
static __attribute__((noinline)) u64 ds_select(u64 h,u64 hi,int np,u32 u){
  h&=NO2;hi&=NO2;u64 h2=h&sm(h),G=pres(h2);u64 R=G&(G>>4);if(np==4)R&=G>>8;R&=pres(h2&hi)>>(4*(np-1));
  for(;;){int s=tz(R)>>2;R&=R-1;u64 g=nib(h,s+np-1);u32 q=npair_hi(g,hi&g),p=q;for(int i=0;i<np-1;i++)p*=c2(pop(nib(h,s+i)));
    if(u>=p){u-=p;continue;} u64 m=kpair_hi(g,hi&g,u%q);u/=q; for(int i=np-2;i>=0;i--){u64 g2=nib(h,s+i);u32 c=c2(pop(g2));m|=kpair(g2,s+i,u%c);u/=c;} return m;} }
INL int has_ds3(u64 h){u64 g=h&NO2;u64 G=pres(g&sm(g));return (G&(G>>4)&(G>>8))!=0;}
INL u64 quads(u64 h){h&=NO2;return h&(h>>1)&(h>>2)&(h>>3)&M1;}
/* bomb counts against pile: fills n3,nq,n4 */
static __attribute__((noinline)) u32 bombs_vs(u64 h,int kind,int top,u32*n3,u64*Q,u32*n4){
  *n3=0;*Q=0;*n4=0; int any3=has_ds3(h);
  if(any3&&(kind==K1||kind==KDS3)) *n3=ds_count(h,kind==KDS3?above(h,top):h,3);
  if(kind<=K2||kind==KDS3||kind==KQ){*Q=quads(h); if(kind==KQ)*Q&=~0ULL<<(top+1);}
  if(any3) *n4=ds_count(h,kind==KDS4?above(h,top):h,4);
  return *n3+pop(*Q)+*n4; }
INL u64 sel_straight_fixed(u64 h,u64 hi,int L,u64 R,u32 u,u64 c){ for(;;){int s=tz(R)>>2;R&=R-1;int e=s+L-1;u32 q=pop(nib(hi,e)),p=q;
    for(int i=s;i<e;i++)p*=(c>>(4*i))&15; if(u>=p){u-=p;continue;} 
    u64 m=kth(nib(hi,e),u%q);u/=q;for(int i=e-1;i>=s;i--){u32 k=(c>>(4*i))&15;m|=kth(nib(h,i),u%k);u/=k;}return m;} }
INL u64 p2_follow(u64 h,int kind,int len,int top,int*nk,rng_t*r,const int rk){
  u64 hi=above(h,top); u32 n=0; u64 A=0,B=0,C=0,R=0,c=0; u32 na=0,nb=0;
  if(LIKELY(kind<=K3)){ // branch-free unless a 2 can be bombed: an index past the end selects nothing (= pass)
    if(LIKELY(kind==K3||top<48)){ u64 w=rng_next(r,rk);
      if(kind==K1) return kth(hi,below(w,pop(hi)+1));
      u64 x=s1(h),y=s2(h),z=s3(h);
      if(kind==K2){A=hi&x;B=hi&y;C=hi&z;} else {A=hi&x&y;B=hi&x&z;C=hi&y&z;}
      na=pop(A);nb=pop(B);u32 u=below(w,na+nb+pop(C)+1); u64 a=kth(A,u),b=kth(B,(u-na)&63),d=kth(C,(u-na-nb)&63);
      return kind==K2 ? (a|a>>1|b|b>>2|d|d>>3) : (a|a>>1|a>>2|b|b>>1|b>>3|d|d>>2|d>>3); }
    if(kind==K1) n=pop(hi); else {A=hi&s1(h);B=hi&s2(h);C=hi&s3(h);na=pop(A);nb=pop(B);n=na+nb+pop(C);}
  } else if(kind==KST){ R=runs(pres(h&NO2),len-1)&(pres(hi&NO2)>>(4*(len-1))); u64 w=rng_next(r,rk); if(!R) return 0; c=cnt4(h);
    for(u64 Q=R;Q;Q&=Q-1){int s=tz(Q)>>2;u32 p=pop(nib(hi,s+len-1));for(int i=s;i<s+len-1;i++)p*=(c>>(4*i))&15;n+=p;}
    u32 u=below(w,n+1); return u==n?0:sel_straight_fixed(h,hi,len,R,u,c); }
  u32 n3=0,n4=0,nbm=0;u64 Qd=0; nbm=bombs_vs(h,kind,top,&n3,&Qd,&n4);
  u32 tot=n+nbm; u32 u=(u32)below(rng_next(r,rk),tot+1);
  if(u==tot) return 0;
  if(u<n){ if(kind==K1) return kth(hi,u); u64 a=kth(A,u),b=kth(B,(u-na)&63),d=kth(C,(u-na-nb)&63); return a|a>>1|b|b>>2|d|d>>3; }
  u-=n; if(u<n3){*nk=KDS3;return ds_select(h,kind==KDS3?hi:h,3,u);} u-=n3; u32 nq=pop(Qd); if(u<nq){*nk=KQ;return kth(Qd,u)*15;} u-=nq;
  *nk=KDS4;return ds_select(h,kind==KDS4?hi:h,4,u);
}
/* straights (len>=3): T[r]=number ending at rank r; returns total */
INL u32 st_dp(u64 c,u32 T[12]){ u32 t=0,tot=0,a=c&15,b=(c>>4)&15; T[0]=T[1]=0;
  for(int r=2;r<12;r++){u32 d=(c>>(4*r))&15; t=d*(t+a*b); T[r]=t; tot+=t; a=b;b=d;} return tot; }
INL u64 st_select(u64 h,u64 c,const u32*T,u32 u){ int r=2; while(u>=T[r])u-=T[r++]; u64 m=0;
  for(;;){u32 k=(c>>(4*r))&15; m|=kth(nib(h,r),u%k);u/=k; r--; u32 k1=(c>>(4*r))&15,k0=(c>>(4*r-4))&15; if(u<k1*k0){m|=kth(nib(h,r),u%k1)|kth(nib(h,r-1),u/k1);return m;} u-=k1*k0;} }
INL u64 p2_lead(u64 h,int*kind,int*len,rng_t*r,const int rk){
  u64 x=s1(h),y=s2(h),z=s3(h); u64 A=h&x,B=h&y,C=h&z; u32 n1=pop(h),na=pop(A),nb=pop(B),nc=pop(C),n2=na+nb+nc;
  u64 D=A&y,E=A&z,F=B&z; u32 nd=pop(D),ne=pop(E),nf=pop(F),n3=nd+ne+nf; u64 Q=(D&z&NO2)>>3; u32 nq=pop(Q);
  u64 P=pres(h&NO2),c=0; u32 T[12],ns=0,m3=0,m4=0; if(P&(P>>4)&(P>>8)){c=cnt4(h);ns=st_dp(c,T); if(UNLIKELY(has_ds3(h))){m3=ds_count(h,h,3);m4=ds_count(h,h,4);} }
  u32 tot=n1+n2+n3+nq+ns+m3+m4;
  u32 u=(u32)below(rng_next(r,rk),tot);
  if(u<ns){*kind=KST; u64 m=st_select(h,c,T,u); *len=pop(m); return m;} u-=ns;
  if(LIKELY(u<n1+n2+n3+nq)){ u32 v=u-n1,w=v-n2; 
    u64 m=kth(h,u)*(u<n1),a=kth(A,v&63),b=kth(B,(v-na)&63),d=kth(C,(v-na-nb)&63),e=kth(D,w&63),f=kth(E,(w-nd)&63),g=kth(F,(w-nd-ne)&63),q=kth(Q,(w-n3)&63)*15;
    m|=a|a>>1|b|b>>2|d|d>>3|e|e>>1|e>>2|f|f>>1|f>>3|g|g>>2|g>>3|q; int k=pop(m); *len=k; *kind=k==4?KQ:k; return m; }
  u-=n1+n2+n3+nq;
  if(u<m3){*kind=KDS3;*len=3;return ds_select(h,h,3,u);} u-=m3;
  *kind=KDS4;*len=4;return ds_select(h,h,4,u);
}
static __attribute__((noinline)) u64 p2_first(u64 h,int*kind,int*len,u64 rnd){ // must include 3S (bit 0)
  u64 o=h&14; u32 k=pop(o); u32 n2=k,n3=c2(k),nq=k==3; u64 c=cnt4(h); u32 ns=0,p=1,S[13]; 
  for(int L=2;L<=12;L++){p*=(c>>(4*(L-1)))&15; S[L]=p; if(L>=3)ns+=p;}
  u32 m3=k*c2((c>>4)&15)*c2((c>>8)&15), m4=m3*c2((c>>12)&15);
  u32 tot=1+n2+n3+nq+ns+m3+m4; u32 u=(u32)below(rnd,tot);
  if(u==0){*kind=*len=1;return 1;} u-=1; if(u<n2){*kind=*len=2;return 1|kth(o,u);} u-=n2; if(u<n3){*kind=*len=3;return 1|kpair(o,0,u);} u-=n3;
  if(u<nq){*kind=KQ;*len=4;return 15;} u-=nq;
  if(u<ns){*kind=KST;int L=3;while(u>=S[L])u-=S[L++];*len=L;u64 m=1;for(int i=1;i<L;i++){u32 q=(c>>(4*i))&15;m|=kth(nib(h,i),u%q);u/=q;}return m;} u-=ns;
  int np=3; if(u>=m3){u-=m3;np=4;} *kind=np==3?KDS3:KDS4;*len=np; u64 m=1|kth(o,u%k);u/=k; for(int i=1;i<np;i++){u64 g=nib(h,i);u32 q=c2(pop(g));m|=kpair(g,i,u%q);u/=q;} return m;
}
/* ---------------- game ---------------- */
static uint8_t NXT[16][4];
static void init_nxt(void){for(int m=1;m<16;m++)for(int p=0;p<4;p++)for(int d=1;d<=4;d++)if(m>>((p+d)&3)&1){NXT[m][p]=(p+d)&3;break;}}
/* result: bits 0-7 finishing order (2 bits a place), 8-15 plays, 16-23 passes, 24-27 bombs, 28-29 starter */
INL u32 game(u64 H[4],rng_t*r,const int pol,const int rk){
  int leader=0; for(int p=1;p<4;p++) leader=(H[p]&1)?p:leader;
  int starter=leader,nout=0,plays=0,passes=0,bombs=0,first=1; u32 order=0,alive=15;
  for(;;){
    u64 h=H[leader]; int kind,len; u64 mv;
    if(pol==1) mv=p1_lead(h,&kind,&len); else { if(first){mv=p2_first(h,&kind,&len,rng_next(r,rk));first=0;} else mv=p2_lead(h,&kind,&len,r,rk); }
    h^=mv; H[leader]=h; plays++; int owner=leader,top=msb(mv),cur=leader; u32 inp=alive;
    if(!h){order|=leader<<(2*nout);nout++;alive^=1u<<leader;inp=alive;if(nout==3)break;}
    u32 others=inp&~(1u<<owner);
    do{
      cur=NXT[others][cur]; h=H[cur]; int nk=kind; u64 mv=pol==1?p1_follow(h,kind,len,top,&nk):p2_follow(h,kind,len,top,&nk,r,rk);
      if(mv){ h^=mv; H[cur]=h; plays++; owner=cur; top=msb(mv); if(UNLIKELY(nk!=kind)){bombs++;kind=nk;}
        if(!h){order|=cur<<(2*nout);nout++;alive^=1u<<cur;inp^=1u<<cur;if(nout==3)goto done;} }
      else { inp^=1u<<cur; passes++; }
      others=inp&~(1u<<owner);
    }while(others);
    leader=(alive>>owner&1)?owner:NXT[alive][owner];
  }
done:
  order|=(u32)tz(alive)<<6;
  return order|plays<<8|passes<<16|(u32)bombs<<24|(u32)starter<<28;
}
/* ---------------- driver ---------------- */
typedef struct {int mode; int rk; u64 g0,g1,seed; int id; u64 sum,plays,passes,bombs,win3; double cpu; u32*out; u64 n; } job_t;
#define CHUNK 4096
#ifndef REPLAY
#define REPLAY
#endif
INL void acc(job_t*j,u32 r){j->plays+=(r>>8)&255;j->passes+=(r>>16)&255;j->bombs+=(r>>24)&15;j->win3+=((r&3)==((r>>28)&3));}
INL void run(job_t*j,const int mode,const int rk){
  rng_t r; rng_init(&r,j->seed,j->id); u64 H[4]; u32 buf[CHUNK]; u64 sum=0;
  for(u64 g=j->g0;g<j->g1;){ u64 e=g+CHUNK<j->g1?g+CHUNK:j->g1; u64 b=g;
    if(mode==1||mode==2){ u32*o=j->out?j->out+b:buf; for(;g<e;g++){ rng_seed(&r,j->seed,g REPLAY,rk); deal_fix(H,&r,rk); o[g-b]=game(H,&r,mode,rk);} for(u64 i=0;i<e-b;i++)acc(j,o[i]); }
    else for(;g<e;g++){ rng_seed(&r,j->seed,g,rk); if(mode==3)deal_fy(H,&r,rk); else if(mode==4)deal_fix(H,&r,rk); else deal_tab(H,&r,rk); sum+=H[0]^H[1]*3^H[2]*5; }
  } j->sum=sum; j->n=j->g1-j->g0;
}
/* move generation: every legal lead of a 13-card hand, materialised */
static int gen_all(u64 h,u64*o){ int n=0; for(u64 x=h;x;x&=x-1)o[n++]=lsb(x);
  u64 x1=s1(h),y=s2(h),z=s3(h); u64 A=h&x1,B=h&y,C=h&z;
  for(u64 m=A;m;m&=m-1){u64 v=lsb(m);o[n++]=v|v>>1;} for(u64 m=B;m;m&=m-1){u64 v=lsb(m);o[n++]=v|v>>2;} for(u64 m=C;m;m&=m-1){u64 v=lsb(m);o[n++]=v|v>>3;}
  for(u64 m=A&y;m;m&=m-1){u64 v=lsb(m);o[n++]=v|v>>1|v>>2;} for(u64 m=A&z;m;m&=m-1){u64 v=lsb(m);o[n++]=v|v>>1|v>>3;} for(u64 m=B&z;m;m&=m-1){u64 v=lsb(m);o[n++]=v|v>>2|v>>3;}
  for(u64 m=(A&y&z&NO2)>>3;m;m&=m-1)o[n++]=lsb(m)*15;
  u64 P=pres(h&NO2); u64 R=P&(P>>4)&(P>>8);
  while(R){int s=tz(R)>>2;R&=R-1; int b=n,e; // breadth-first products from start s
    u64 g0=nib(h,s),g1=nib(h,s+1),g2=nib(h,s+2);
    for(u64 a=g0;a;a&=a-1)for(u64 c=g1;c;c&=c-1){u64 ac=lsb(a)|lsb(c);for(u64 d=g2;d;d&=d-1)o[n++]=ac|lsb(d);}
    for(int k=s+3;k<12;k++){u64 g=nib(h,k); if(!g)break; e=n; for(u64 d=g;d;d&=d-1){u64 v=lsb(d);for(int i=b;i<e;i++)o[n++]=o[i]|v;} b=e;} }
  if(has_ds3(h)) for(int np=3;np<=4;np++){u32 q=ds_count(h,h,np);for(u32 u=0;u<q;u++)o[n++]=ds_select(h,h,np,u);}
  return n; }
INL u32 count_all(u64 h){u64 x=s1(h),y=s2(h),z=s3(h);u64 A=h&x,B=h&y,C=h&z;u32 n=pop(h)+pop(A)+pop(B)+pop(C)+pop(A&y)+pop(A&z)+pop(B&z)+pop(A&y&z&NO2);
  u64 P=pres(h&NO2); if(P&(P>>4)&(P>>8)){u32 T[12];n+=st_dp(cnt4(h),T); if(has_ds3(h))n+=ds_count(h,h,3)+ds_count(h,h,4);} return n;}
#define NH 65536
static void run_gen(job_t*j,int en){ static u64 hs[2][NH]; u64*hh=hs[j->id&1]; rng_t r; rng_init(&r,j->seed,0); u64 H[4];
  for(u64 g=0;g<NH/4;g++){rng_seed(&r,j->seed,g,0);deal_fix(H,&r,0);memcpy(hh+4*g,H,32);}
  static __thread u64 buf[1<<17]; u64 s=0; struct timespec a,b; clock_gettime(CLOCK_THREAD_CPUTIME_ID,&a);
  for(u64 g=j->g0;g<j->g1;g++){u64 h=hh[g&(NH-1)]; s+=en?gen_all(h,buf):count_all(h);}
  clock_gettime(CLOCK_THREAD_CPUTIME_ID,&b); double t=(b.tv_sec-a.tv_sec)+(b.tv_nsec-a.tv_nsec)*1e-9; j->sum=s; j->n=j->g1-j->g0; j->plays=(u64)(t*1e9);
}
#define CASES(M) switch(j->rk){case 0:run(j,M,0);break;case 1:run(j,M,1);break;case 2:run(j,M,2);break;case 3:run(j,M,3);break;case 4:run(j,M,4);break;default:run(j,M,5);}
static void r1(job_t*j){CASES(1)} static void r2(job_t*j){CASES(2)} static void r3(job_t*j){CASES(3)} static void r4(job_t*j){CASES(4)} static void r5(job_t*j){CASES(5)}
static double cpu_now(void){struct timespec a;clock_gettime(CLOCK_THREAD_CPUTIME_ID,&a);return a.tv_sec+a.tv_nsec*1e-9;}
static void*thr(void*p){job_t*j=p;double c0=cpu_now();switch(j->mode){case 1:r1(j);break;case 2:r2(j);break;case 3:r3(j);break;case 4:r4(j);break;case 5:r5(j);break;case 6:run_gen(j,0);break;case 7:run_gen(j,1);break;}j->cpu=cpu_now()-c0;return 0;}
int main(int c,char**v){
  if(c<5){fprintf(stderr,"usage: %s p1|p2|deal-fy|deal-fix|deal-tab|count|gen|dump-p1|dump-p2 games seed threads [rng 0..5]\n",v[0]);return 2;}
  init_nxt();init_tab(); const char*ms[]={"","p1","p2","deal-fy","deal-fix","deal-tab","count","gen"}; int mode=0,dump=!strncmp(v[1],"dump-",5); const char*mn=v[1]+(dump?5:0);
  for(int i=1;i<8;i++)if(!strcmp(mn,ms[i]))mode=i; if(!mode)return 2;
  u64 N=strtoull(v[2],0,10),seed=strtoull(v[3],0,10);int T=atoi(v[4]);int rk=c>5?atoi(v[5]):0;
  u32*out=dump?calloc(N,4):0; job_t J[64]; pthread_t th[64]; struct timespec a,b; memset(J,0,sizeof J);
  clock_gettime(CLOCK_MONOTONIC,&a);
  for(int i=0;i<T;i++){J[i].mode=mode;J[i].rk=rk;J[i].seed=seed;J[i].id=i;J[i].g0=N*i/T;J[i].g1=N*(i+1)/T;J[i].out=out;pthread_create(&th[i],0,thr,&J[i]);}
  job_t S;memset(&S,0,sizeof S); for(int i=0;i<T;i++){pthread_join(th[i],0);S.plays+=J[i].plays;S.passes+=J[i].passes;S.bombs+=J[i].bombs;S.win3+=J[i].win3;S.sum+=J[i].sum;S.cpu+=J[i].cpu;}
  clock_gettime(CLOCK_MONOTONIC,&b);double t=(b.tv_sec-a.tv_sec)+(b.tv_nsec-a.tv_nsec)*1e-9;
  if(dump){fwrite(out,4,N,stdout);return 0;}
  if(mode<=2)printf("%s rng=%d threads=%d games=%llu s=%.3f games/s=%.0f games/cpu-s=%.0f decisions/s=%.0f plays=%.4f passes=%.4f chops=%.5f win3S=%.5f\n",mn,rk,T,(unsigned long long)N,t,N/t,N/S.cpu,(S.plays+S.passes)/t,(double)S.plays/N,(double)S.passes/N,(double)S.bombs/N,(double)S.win3/N);
  else if(mode<=5)printf("%s rng=%d threads=%d deals=%llu s=%.3f deals/s=%.0f cpu-ns/deal=%.2f chk=%llx\n",mn,rk,T,(unsigned long long)N,t,N/t,S.cpu/N*1e9,(unsigned long long)S.sum);
  else {double tt=S.plays*1e-9/T;printf("%s threads=%d hands=%llu s=%.3f hands/s=%.0f moves=%llu moves/hand=%.3f moves/s=%.0f\n",mn,T,(unsigned long long)N,tt,N/tt,(unsigned long long)S.sum,(double)S.sum/N,S.sum/tt);}
  return 0;}
