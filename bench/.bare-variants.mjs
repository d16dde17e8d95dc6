import sharp from 'sharp';
import { readdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
const dir='/var/lib/vitrine-bench/pictures';
const webp={quality:80,effort:2};
const names=readdirSync(dir).slice(0,8);
sharp.cache(false);
const one=async(name,out)=>{ await Promise.all([['col',320,'cover'],['preview',1024,'inside'],['screen',2048,'inside'],['hires',4096,'inside']].map(([k,m,fit])=>sharp(join(dir,name)).rotate().resize(m,m,{fit,withoutEnlargement:true}).webp(webp).toFile(join(out,name+k+'.webp'))));};
const seq=async(name,out)=>{ for (const [k,m,fit] of [['col',320,'cover'],['preview',1024,'inside'],['screen',2048,'inside'],['hires',4096,'inside']]) await sharp(join(dir,name)).rotate().resize(m,m,{fit,withoutEnlargement:true}).webp(webp).toFile(join(out,name+k+'.webp'));};
const once=async(name,out)=>{ const {data,info}=await sharp(join(dir,name)).rotate().resize(4096,4096,{fit:'inside',withoutEnlargement:true}).raw().toBuffer({resolveWithObject:true}); const raw={width:info.width,height:info.height,channels:info.channels};
 await Promise.all([['col',320,'cover'],['preview',1024,'inside'],['screen',2048,'inside'],['hires',4096,'inside']].map(([k,m,fit])=>sharp(data,{raw}).resize(m,m,{fit}).webp(webp).toFile(join(out,name+k+'.webp'))));};
for (let r=0;r<2;r++) for (const conc of [0,1]) for (const [label,f] of [['one',one],['seq',seq],['once',once]]) { sharp.concurrency(conc||2); const out=mkdtempSync('/tmp/bare-'); const q=names.values(); const t=performance.now(); const c=process.cpuUsage(); await Promise.all([0,1].map(async()=>{for(const n of q) await f(n,out)})); const s=(performance.now()-t)/1000; const u=process.cpuUsage(c); console.log(label,'conc',conc||2,(8/s).toFixed(2),'/s cpu s/pic',((u.user+u.system)/1e6/8).toFixed(2)); rmSync(out,{recursive:true}); }
